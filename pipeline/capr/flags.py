"""What a jury's ratings say of an item: the paper's flag, and our own `ambiguous` and `invalid`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pipeline.capr.rubrics import RUBRICS

LEAST_MEAN = 3.0
"""Mean below which a rubric flags an item (ADAGE paper, section 3.5)."""

MOST_SPREAD = 2
"""Points between judges above which a rubric flags an item (ADAGE paper, section 3.5)."""

AMBIGUOUS_JUDGES = 2
"""Judges that must put a distractor at or above the key (our choice)."""


@dataclass(frozen=True)
class Flags:
    """Flags of one item; a mean is None where no judge was valid."""

    flag_paper: bool
    reasons: list[str]
    ambiguous: bool
    invalid: bool
    valid_judges: int
    means: Mapping[str, float | None] = field(default_factory=dict)


def flags(ratings: Sequence[Mapping[str, Any]], answer: int) -> Flags:
    """Judge rows of one item -> its flags.

    ``flag_paper``: on any rubric the mean over valid judges < 3.0, or max - min > 2, or no valid judge.
    ``ambiguous``: at least two judges rate some distractor's fit at or above the key's.
    ``invalid``: no judge could answer.
    """
    valid = [row for row in ratings if row["status"] == "ok"]
    reasons: list[str] = []
    means: dict[str, float | None] = dict.fromkeys(RUBRICS)
    if not valid:
        return Flags(True, ["no_valid_judge"], False, True, 0, means)
    for rubric in RUBRICS:
        scores = [row[rubric] for row in valid]
        means[rubric] = fmean(scores)
        if fmean(scores) < LEAST_MEAN:
            reasons.append(f"{rubric}_mean")
        if max(scores) - min(scores) > MOST_SPREAD:
            reasons.append(f"{rubric}_spread")
    doubting = sum(
        any(fit >= row["fits"][answer] for i, fit in enumerate(row["fits"]) if i != answer) for row in valid
    )
    return Flags(bool(reasons), reasons, doubting >= AMBIGUOUS_JUDGES, False, len(valid), means)
