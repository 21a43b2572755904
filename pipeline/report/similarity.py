"""The similarities that caps were calibrated on, and how many pairs each cap shuts out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.capr.calibration import BIN, PAPER_CAP

_BINS_A_STEP = 5

_KINDS = (
    ("proverb_proverb", "distractors", "Proverb and proverb", "bounds every distractor"),
    ("meaning_meaning", "distractors", "Meaning and meaning", "keeps synonyms from being distractors"),
    ("proverb_scenario", "filter", "Proverb and another's scenario", "bounds a scenario and its own proverb"),
)


@dataclass(frozen=True)
class Distribution:
    """Cosines of one kind of pair; ``bins`` are (low, high, pairs). ``cap`` None: not compared here."""

    slug: str
    title: str
    use: str
    pairs: int
    median: float | None
    cap: float | None
    how: str
    above: int | None
    bins: list[tuple[float, float, int]]

    @property
    def steps(self) -> list[tuple[float, float, int]]:
        """The bins in steps of 0.05, for reading rather than drawing."""
        # A bin belongs to the step its upper end lies in: (0.84, 0.85] to (0.80, 0.85].
        counts: Counter[int] = Counter()
        for _, high, count in self.bins:
            counts[math.ceil(round(high / BIN) / _BINS_A_STEP)] += count
        width = BIN * _BINS_A_STEP
        return [
            (round((s - 1) * width, 2), round(s * width, 2), count) for s, count in sorted(counts.items())
        ]

    @property
    def above_share(self) -> float | None:
        """Share of the pairs above the cap."""
        return None if self.above is None or not self.pairs else self.above / self.pairs


def distributions(facts: Mapping[str, Mapping[str, Any]]) -> list[Distribution]:
    """The three kinds of pairs, from the facts of the stages that calibrate."""
    caps = {
        "proverb_proverb": facts["distractors"]["caps"]["proverb_cap"],
        "meaning_meaning": facts["distractors"]["caps"]["meaning_cap"],
        "proverb_scenario": facts["filter"]["similarity_cap"],
    }
    return [
        _distribution(slug, title, use, facts[stage]["distributions"][slug], caps[slug])
        for slug, stage, title, use in _KINDS
    ]


def _distribution(
    slug: str, title: str, use: str, found: Mapping[str, Any], cap: Mapping[str, Any] | None
) -> Distribution:
    low = found["low"]
    bins = [
        (round(low + BIN * i, 2), round(low + BIN * (i + 1), 2), count)
        for i, count in enumerate(found["counts"])
    ]
    return Distribution(
        slug,
        title,
        use,
        found["pairs"],
        found["median"],
        None if cap is None else cap["cap"],
        _how(cap),
        found["above_cap"],
        bins,
    )


def _how(cap: Mapping[str, Any] | None) -> str:
    """Where a cap comes from."""
    if cap is None:
        return "not compared in this run"
    if cap.get("how", "").startswith("frozen"):
        return str(cap["how"])
    quantile = cap.get("quantile")
    if quantile is None:
        return "the paper's"
    return "the 99.5% quantile" if quantile > PAPER_CAP else "the paper's; the 99.5% quantile is lower"
