"""What the jury said: scores by rubric and judge, and the flags they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.capr.flags import AMBIGUOUS_JUDGES, LEAST_MEAN, MOST_SPREAD
from pipeline.capr.rubrics import RUBRICS

SCORES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Scores:
    """One judge on one rubric: how often each score, and how many items without a valid answer."""

    judge: str
    counts: list[int]
    invalid: int

    @property
    def valid(self) -> int:
        """Items with a score."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Mean score, None without any."""
        total = sum(score * count for score, count in zip(SCORES, self.counts, strict=True))
        return total / self.valid if self.valid else None


@dataclass(frozen=True)
class Rubric:
    """One rubric: its judges' scores, and how far they agree (see ``pipeline.capr.agreement``)."""

    name: str
    judges: list[Scores]
    agreement: Mapping[str, Any]


@dataclass(frozen=True)
class Flag:
    """One flag: what raises it and how many items have it; a reason of the paper's flag is ``part_of`` it."""

    name: str
    meaning: str
    items: int
    part_of: bool = False


def rubrics(judgements: pa.Table, agreement: Mapping[str, Mapping[str, Any]]) -> list[Rubric]:
    """Scores by rubric, judges in the order they sat; ``agreement`` is that of the judge stage's facts."""
    rows = judgements.to_pylist()
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    return [Rubric(name, _scores(name, judges, rows), agreement[name]) for name in RUBRICS]


def flags(items: Sequence[Mapping[str, Any]]) -> list[Flag]:
    """Each flag and, under the paper's, each of its reasons that occurs."""
    reasons = Counter(reason for item in items for reason in item["flag_reasons"])
    return [
        Flag(
            "flag_paper",
            "a rubric's mean is too low, judges are too far apart on it, or no judge was valid",
            sum(item["flag_paper"] for item in items),
        ),
        *(Flag(reason, _REASONS[reason], count, part_of=True) for reason, count in sorted(reasons.items())),
        Flag(
            "ambiguous",
            f"at least {AMBIGUOUS_JUDGES} judges put a distractor's fit at or above the key's",
            sum(item["ambiguous"] for item in items),
        ),
        Flag("invalid", "no judge gave a valid answer", sum(item["invalid"] for item in items)),
    ]


_REASONS = {
    **{f"{name}_mean": f"mean {name} below {LEAST_MEAN:g}" for name in RUBRICS},
    **{f"{name}_spread": f"judges more than {MOST_SPREAD} points apart on {name}" for name in RUBRICS},
    "no_valid_judge": "no judge gave a valid answer",
}


def _scores(name: str, judges: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[Scores]:
    scores: dict[str, Counter[int]] = {judge: Counter() for judge in judges}
    invalid: Counter[str] = Counter()
    for row in rows:
        if row["status"] == "ok":
            scores[row["judge"]][row[name]] += 1
        else:
            invalid[row["judge"]] += 1
    return [Scores(judge, [scores[judge][s] for s in SCORES], invalid[judge]) for judge in judges]
