"""Stage 1: the seed rows a benchmark may be built from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from pipeline.capr.base import Base
from pipeline.errors import SeedError
from pipeline.language.language import Language
from pipeline.params import Params
from pipeline.seeds.groups import group_of
from pipeline.seeds.meaning import meaning_of
from pipeline.store.result import Rejection, StageResult


class AcquireParams(Params):
    """``limit`` takes the first so many accepted proverbs; ``least`` stops a build that has fewer."""

    limit: int | None = Field(default=None, ge=1)
    least: int = Field(default=8, ge=4)
    script_share: float = Field(default=0.70, ge=0, le=1)


def acquire(
    seeds: Sequence[Mapping[str, str]], language: Language, params: AcquireParams, base: Base | None
) -> StageResult:
    """Check seed rows; keep each distinct proverb that has a meaning (see ``usable``).

    Rows past the limit stay in the table with ``selected`` false: similarity caps are calibrated on all
    seeds of a language. Proverbs that have a cluster in the base dataset come first, are selected whatever
    the limit and marked ``in_base``: no model is asked about them again. Those that only have a split in it
    come next and are new in all else. Raises SeedError when too few remain.
    """
    settled = base.settled if base else frozenset[str]()
    rows, rejected = usable(seeds, language, params, settled, base.splits if base else ())
    selected = sum(row["selected"] for row in rows)
    if selected < params.least:
        counts = f"{len(seeds)} seed rows, {len(rows)} usable, {selected} within the limit"
        raise SeedError(
            f"too few proverbs: {counts}; at least {params.least} are needed. Add rows to "
            f"seeds/{language.code}/proverbs.csv (adage seeds import FILE --lang {language.code}) "
            "or raise the limit"
        )
    stood_in = sum(row["selected"] and row["meaning_from"] == "en" for row in rows)
    facts = {
        "selected": selected,
        "in_base": sum(row["in_base"] for row in rows),
        "drafts": sum(row["selected"] and row["status"] != "reviewed" for row in rows),
        "meaning_stood_in_by_english": stood_in,
        "explanation_contains_proverb": sum(row["selected"] and row["contains_proverb"] for row in rows),
    }
    return StageResult(rows, rejected, len(seeds), facts)


def usable(
    seeds: Sequence[Mapping[str, str]],
    language: Language,
    params: AcquireParams,
    settled: Collection[str] = (),
    known: Collection[str] = (),
) -> tuple[list[dict[str, Any]], list[Rejection]]:
    """The rows a benchmark can be built from, ``settled``, then ``known`` ids first; others with reasons.

    A missing native meaning is stood in for by the English one and marked ``meaning_from=en``, as the
    paper does for Japanese (section 3.3).
    """
    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    by_key: dict[str, str] = {}
    variant_of = {row["proverb_id"]: row["variant_of"] for row in seeds}
    for row in sorted(seeds, key=lambda r: (r["proverb_id"] not in settled, r["proverb_id"] not in known)):
        facts = language.analyse(row["text"], params.script_share)
        meaning, origin = meaning_of(row, language)
        key = language.proverb_key(row["text"])
        reason, numbers = _objection(row, meaning, key, facts.verdict.script_share, by_key, params)
        if reason:
            rejected.append(Rejection(row["proverb_id"], reason, {"text": row["text"], **numbers}))
            continue
        by_key[key] = row["proverb_id"]
        in_base = row["proverb_id"] in settled
        rows.append(
            {
                "proverb_id": row["proverb_id"],
                "text": row["text"],
                "meaning": meaning,
                "meaning_from": origin,
                "meaning_en": row["meaning_en"],
                "equivalent_en": row["equivalent_en"],
                "source": row["source"],
                "status": row["status"],
                "group": group_of(row["proverb_id"], variant_of),
                "contains_proverb": language.quotes(meaning, row["text"]),
                "selected": in_base or params.limit is None or len(rows) < params.limit,
                "in_base": in_base,
            }
        )
    return rows, rejected


def _objection(
    row: Mapping[str, str],
    meaning: str,
    key: str,
    share: float | None,
    by_key: Mapping[str, str],
    params: AcquireParams,
) -> tuple[str, dict[str, Any]]:
    if not row["text"].strip() or not key:
        return "no_text", {}
    if not meaning:
        return "no_meaning", {}
    if key in by_key:
        return "duplicate", {"of": by_key[key]}
    if share is not None and share < params.script_share:
        return "wrong_script", {"script_share": share, "at_least": params.script_share}
    return "", {}
