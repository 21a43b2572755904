"""Stage 3: one scenario a proverb and domain (ADAGE paper, section 3.2)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import regex
from pydantic import Field

from pipeline.capr.domains import DOMAINS
from pipeline.language.language import Language
from pipeline.llm.interface import Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import Rejection, StageResult

_LIST = regex.compile(r"^\s*(?:[-*•]|\p{N}{1,2}[.)、])\s", regex.MULTILINE)
_SHINGLE = 8


class ScenarioParams(Params):
    """``domains`` takes the first so many; ``most_characters`` bounds a text; ``script_grammar`` makes the
    server write the language's letters only (small models need it); the shares bound copies and loops."""

    domains: int = Field(default=len(DOMAINS), ge=1, le=len(DOMAINS))
    least_characters: int = Field(default=20, ge=1)
    most_characters: int = Field(default=1200, ge=50)
    script_grammar: bool = False
    copied_share: float = Field(default=0.3, ge=0, le=1)
    repeated_share: float = Field(default=0.35, ge=0, le=1)


def scenarios(
    proverbs: pa.Table,
    labels: pa.Table,
    language: Language,
    chat: Chat,
    prompt: Prompt,
    params: ScenarioParams,
) -> StageResult:
    """Ask for one scenario a labelled proverb and domain; expected rows = labelled proverbs x domains.

    A proverb without a label has no cluster, so no distractors: calls for it would be wasted.

    A reply that copies the prompt's example, goes round in circles or is a list is asked for again, then
    rejected with its numbers. Whether a scenario is good enough is the filter's business.
    """
    labelled = set(labels["proverb_id"].to_pylist())
    asked = [row for row in proverbs.to_pylist() if row["proverb_id"] in labelled]
    domains = dict(list(DOMAINS.items())[: params.domains])
    schema = _schema(prompt, language, params)
    examples = [_shingles(example) for example in prompt.front.examples]

    def objection(value: Any) -> str | None:
        return unusable(value["scenario"], examples, params)

    asks = [
        Ask(
            f"{row['proverb_id']}.{slot}",
            prompt.render(proverb=row["text"], meaning=row["meaning"], domain=domain, language=language.name),
            schema,
            objection,
        )
        for row in asked
        for slot, domain in domains.items()
    ]
    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    answers = chat.ask(asks)
    for answer in answers:
        proverb_id, slot = answer.row_id.rsplit(".", 1)
        if answer.ok:
            text = " ".join(answer.value["scenario"].split())
            rows.append(
                {"scenario_id": answer.row_id, "proverb_id": proverb_id, "domain": slot, "text": text}
            )
        else:
            rejected.append(
                Rejection(answer.row_id, f"reply_{answer.status}", {"why": answer.why}, answer.raw)
            )
    return StageResult(
        rows, rejected, len(asks), {"domains": list(domains)}, lasting=all(a.status.lasting for a in answers)
    )


def unusable(text: str, examples: list[frozenset[str]], params: ScenarioParams) -> str | None:
    """Why a text is no scenario at all, with the numbers that say so, or None."""
    if not text.strip():
        return "blank"
    shingles = _shingles(text)
    copied = max((len(shingles & example) / len(shingles) for example in examples if shingles), default=0.0)
    if copied > params.copied_share:
        return f"copies the prompt's example: share {copied:.2f}, at most {params.copied_share}"
    repeated = repeated_share(text)
    if repeated > params.repeated_share:
        return f"goes round in circles: share {repeated:.2f} repeated, at most {params.repeated_share}"
    if len(_LIST.findall(text)) > 1:
        return "is a list, not a scenario"
    return None


def repeated_share(text: str) -> float:
    """Share of a text's 8-character shingles that occurred before in it: 0 for prose, near 1 for a loop."""
    flat = "".join(text.split())
    counts = Counter(flat[i : i + _SHINGLE] for i in range(len(flat) - _SHINGLE + 1))
    return sum(c - 1 for c in counts.values()) / max(counts.total(), 1)


def _shingles(text: str) -> frozenset[str]:
    # Characters, not words: the share must mean the same in scripts without spaces.
    flat = "".join(text.split()).casefold()
    return frozenset(flat[i : i + _SHINGLE] for i in range(len(flat) - _SHINGLE + 1))


def _schema(prompt: Prompt, language: Language, params: ScenarioParams) -> dict[str, Any]:
    text: dict[str, Any] = {
        "type": "string",
        "minLength": params.least_characters,
        "maxLength": params.most_characters,
    }
    if params.script_grammar:
        text = {
            "type": "string",
            "pattern": language.grammar_pattern(params.most_characters, params.least_characters),
        }
    return {**(prompt.schema or {}), "properties": {"scenario": text}}
