"""Stage 3: one scenario a proverb and domain (ADAGE paper, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pydantic import Field

from pipeline.capr.defects import Defect, defect, shingles
from pipeline.capr.domains import DOMAINS
from pipeline.language.language import Language
from pipeline.llm.interface import Answer, Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import Rejection, StageResult


class ScenarioParams(Params):
    """``domains`` takes the first so many; ``most_characters`` bounds a text; ``script_grammar`` makes the
    server write the language's letters only (small models need it); the shares bound copies and loops."""

    domains: int = Field(default=len(DOMAINS), ge=1, le=len(DOMAINS))
    least_characters: int = Field(default=10, ge=1)
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

    A reply that copies the prompt's examples, goes round in circles or is a list is asked for again, then
    rejected with its numbers. Whether a scenario is good enough is the filter's business, near-duplicates
    among a proverb's scenarios too.
    """
    labelled = set(labels["proverb_id"].to_pylist())
    asked = [row for row in proverbs.to_pylist() if row["proverb_id"] in labelled]
    domains = dict(list(DOMAINS.items())[: params.domains])
    schema = _schema(prompt, language, params)
    examples = [shingles(example) for example in prompt.front.examples]
    found: dict[str, Defect] = {}

    def objection_to(row_id: str) -> Callable[[Any], str | None]:
        def objection(value: Any) -> str | None:
            flaw = defect(value["scenario"], examples, params.copied_share, params.repeated_share)
            if flaw is None:
                return None
            found[row_id] = flaw
            return str(flaw)

        return objection

    asks = [
        Ask(
            f"{row['proverb_id']}.{slot}",
            prompt.render(proverb=row["text"], meaning=row["meaning"], domain=domain, language=language.name),
            schema,
            objection_to(f"{row['proverb_id']}.{slot}"),
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
            rejected.append(_rejection(answer, found.get(answer.row_id)))
    return StageResult(
        rows, rejected, len(asks), {"domains": list(domains)}, lasting=all(a.status.lasting for a in answers)
    )


def _rejection(answer: Answer, flaw: Defect | None) -> Rejection:
    """Under the flaw's own reason, unless the last reply failed in another way."""
    if flaw and answer.why == str(flaw):
        return Rejection(answer.row_id, flaw.reason, flaw.numbers, answer.raw)
    return Rejection(answer.row_id, f"reply_{answer.status}", {"why": answer.why}, answer.raw)


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
