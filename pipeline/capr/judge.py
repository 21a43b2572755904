"""Stage 6: a jury of models rates every item on three rubrics (ADAGE paper, section 3.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.capr.agreement import agreement
from pipeline.capr.rubrics import RUBRICS
from pipeline.language.language import Language
from pipeline.llm.interface import Answer, Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import StageResult


class JudgeParams(Params):
    """The jury has no settings beyond its judges."""


@dataclass(frozen=True)
class Judge:
    """One seat of the jury. ``stance`` is a sentence put into the prompt ("" for the paper's jury)."""

    name: str
    chat: Chat
    stance: str = ""


def judge(
    items: pa.Table, proverbs: pa.Table, language: Language, judges: Sequence[Judge], prompt: Prompt
) -> StageResult:
    """One structured call a judge and item: three rubrics and the fit of each option, all 1-5.

    Judge-major, so a GPU loads each model once. Expected rows = items x judges, all kept: a judge that
    cannot answer is a row with its status and nulls, never a score.
    """
    meanings = {row["proverb_id"]: row["meaning"] for row in proverbs.to_pylist()}
    asked = items.to_pylist()
    rows: list[dict[str, Any]] = []
    lasting = True
    for seat in judges:
        asks = [
            Ask(
                f"{item['item_id']}@{seat.name}",
                prompt.render(
                    stance=seat.stance,
                    language=language.name,
                    scenario=item["scenario"],
                    key="ABCD"[item["answer"]],
                    options=[
                        {"letter": letter, "proverb": text, "meaning": meanings[proverb_id]}
                        for letter, text, proverb_id in zip(
                            "ABCD", item["options"], item["option_ids"], strict=True
                        )
                    ],
                ),
                prompt.schema,
            )
            for item in asked
        ]
        answers = seat.chat.ask(asks)
        lasting = lasting and all(a.status.lasting for a in answers)
        rows += [_row(item, seat, answer) for item, answer in zip(asked, answers, strict=True)]
    facts = {
        "judges": [f"{s.name}: {s.chat.name}" for s in judges],
        "invalid_ratings": dict(Counter(row["judge"] for row in rows if row["status"] == "invalid")),
        "agreement": agreement(rows),
    }
    return StageResult(rows, [], len(asked) * len(judges), facts, lasting=lasting)


def _row(item: dict[str, Any], seat: Judge, answer: Answer) -> dict[str, Any]:
    value = answer.value if answer.ok else dict.fromkeys((*RUBRICS, "fits"))
    return {
        "item_id": item["item_id"],
        "item_digest": item["item_digest"],
        "judge": seat.name,
        "model": seat.chat.name,
        "status": "ok" if answer.ok else "invalid",
        "why": "" if answer.ok else f"{answer.status}: {answer.why}",
        **{rubric: _score(value[rubric]) for rubric in RUBRICS},
        "fits": value["fits"] and [_score(fit) for fit in value["fits"]],
    }


def _score(given: float | None) -> int | None:
    """A score as a whole number: to a JSON schema 4.0 is an integer too."""
    return None if given is None else int(given)
