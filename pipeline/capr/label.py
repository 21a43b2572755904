"""Stage 2, pass 1: a concise English theme label for each proverb (ADAGE paper, section 3.1)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import regex
from pydantic import Field

from pipeline.llm.interface import Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import Rejection, StageResult

_APOSTROPHES = regex.compile("[\u2018\u2019\u02bc`\u00b4]")
_NO_LABEL = regex.compile(r"[^\p{L}\p{M}\p{N}']|(?<![\p{L}\p{M}])'|'(?![\p{L}\p{M}])")


class LabelParams(Params):
    """``most_words`` bounds a label: a sentence is not a label. ``reject_copies`` refuses the prompt's own
    examples as labels: small models repeat them, for a large one they may be the right answer."""

    most_words: int = Field(default=6, ge=1)
    reject_copies: bool = False


def label(proverbs: pa.Table, chat: Chat, prompt: Prompt, params: LabelParams) -> StageResult:
    """Ask the model for one theme label a selected proverb that the base dataset does not have.

    Keeps (proverb_id, label, label_raw); ``label`` is normalised so that spelling does not make two themes.
    """
    asked = [row for row in proverbs.to_pylist() if row["selected"] and not row["in_base"]]
    copied = {normalise(example) for example in prompt.front.examples} if params.reject_copies else set()

    def objection(value: Any) -> str | None:
        theme = normalise(value["theme"])
        if not regex.search(r"\p{Latin}", theme):
            return f"{theme!r} is not an English label"
        if len(theme.split()) > params.most_words:
            return f"{len(theme.split())} words, at most {params.most_words}"
        return f"{theme!r} is copied from the prompt" if theme in copied else None

    asks = [
        Ask(
            row["proverb_id"],
            prompt.render(proverb=row["text"], meaning=row["meaning"]),
            prompt.schema,
            objection,
        )
        for row in asked
    ]
    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    answers = chat.ask(asks)
    for answer in answers:
        if answer.ok:
            raw = answer.value["theme"]
            rows.append({"proverb_id": answer.row_id, "label": normalise(raw), "label_raw": raw})
        else:
            rejected.append(
                Rejection(answer.row_id, f"reply_{answer.status}", {"why": answer.why}, answer.raw)
            )
    facts = {"distinct_labels": len({r["label"] for r in rows})}
    return StageResult(rows, rejected, len(asked), facts, lasting=all(a.status.lasting for a in answers))


def normalise(theme: str) -> str:
    """One spelling of a label: NFKC, lower case, `&` as "and", straight apostrophes, hyphens as blanks.

    Other punctuation and outer blanks go; an apostrophe stays inside a word only.
    """
    # Before NFKC, which makes a blank and a mark of the spacing acute.
    straight = _APOSTROPHES.sub("'", theme)
    text = unicodedata.normalize("NFKC", straight).casefold().replace("&", " and ")
    return " ".join(_NO_LABEL.sub(" ", text).split())
