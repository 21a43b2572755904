"""Similarity caps: the paper's 0.85, raised where an embedder puts unrelated texts above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.embed.interface import Vectors

PAPER_CAP = 0.85
"""The cap of the ADAGE paper (sections 3.1 and 3.2)."""

QUANTILE = 0.995
LEAST_PAIRS = 200
MOST_PAIRS = 500_000_000
"""Above so many pairs (31,000 proverbs with each other) every second, third, ... row is compared."""

BIN = 0.01
"""Width of a bin of a distribution."""

_STEPS = 10_000
_STEPS_A_BIN = 100
_BLOCK = 512
_ROUNDING = 0.01


@dataclass(frozen=True)
class Similarities:
    """Counts of cosines in steps of 0.0001 from -1 to 1; ``thinned`` is 1 where every pair was compared."""

    counts: npt.NDArray[np.int64]
    thinned: int

    @property
    def pairs(self) -> int:
        """Pairs compared."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Cap:
    """A cap with what it was made from; ``quantile`` is None below 200 pairs, where the cap is the paper's.

    ``thinned`` n: only every n-th row was compared, 1 for all.
    """

    cap: float
    quantile: float | None
    pairs: int
    thinned: int = 1


def calibrated_cap(similarities: Similarities) -> Cap:
    """The cap for one kind of pair: 0.85, or the 99.5 % quantile over pairs of different proverbs if higher.

    With multilingual-e5-small, unrelated texts lie above 0.8: a fixed 0.85 would reject most of them. The
    quantile is rounded up to the next 0.0001, so that at most 0.5 % of the pairs lie above it.
    """
    pairs = similarities.pairs
    if pairs < LEAST_PAIRS:
        return Cap(PAPER_CAP, None, pairs, similarities.thinned)
    step = int(np.searchsorted(similarities.counts.cumsum(), QUANTILE * pairs))
    quantile = (step - _STEPS) / _STEPS
    return Cap(max(PAPER_CAP, quantile), quantile, pairs, similarities.thinned)


def distribution(similarities: Similarities, cap: float | None) -> dict[str, Any]:
    """The cosines in brief, for a manifest: pairs, median, pairs above the cap, counts in bins of 0.01.

    ``counts`` begins with the bin above ``low``, and a bin holds its upper end: (0.84, 0.85] ends at the
    paper's cap. ``median`` is None without pairs, ``above_cap`` without a cap.
    """
    counts, pairs = similarities.counts, similarities.pairs
    # The very first step is -1 itself: it joins the first bin.
    bins = np.add.reduceat(counts[1:], np.arange(0, 2 * _STEPS, _STEPS_A_BIN))
    bins[0] += counts[0]
    filled = np.flatnonzero(bins)
    first, last = (int(filled[0]), int(filled[-1])) if pairs else (0, -1)
    median = int(np.searchsorted(counts.cumsum(), pairs / 2)) if pairs else None
    return {
        "pairs": pairs,
        "median": None if median is None else (median - _STEPS) / _STEPS,
        "above_cap": None if cap is None else int(counts[round(cap * _STEPS) + _STEPS + 1 :].sum()),
        "low": round(first * BIN - 1, 2),
        "counts": bins[first : last + 1].tolist(),
    }


def within_pairs(vectors: Vectors, most_pairs: int = MOST_PAIRS) -> Similarities:
    """Cosines of all pairs of different rows, compared in blocks."""
    rows, thinned = vectors, 1
    while len(rows) * (len(rows) - 1) // 2 > most_pairs:
        thinned += 1
        rows = vectors[::thinned]
    counts = np.zeros(2 * _STEPS + 1, dtype=np.int64)
    for start in range(0, len(rows), _BLOCK):
        steps = _steps(rows[start : start + _BLOCK], rows[start:])
        # Each pair once: the block's own pairs right of the diagonal, then its pairs with all later rows.
        size = len(steps)
        counts += _count(steps[:, :size][np.triu_indices(size, k=1)]) + _count(steps[:, size:].ravel())
    return Similarities(counts, thinned)


def cross_pairs(
    proverbs: Vectors, scenarios: Vectors, owner: npt.NDArray[np.int64], most_pairs: int = MOST_PAIRS
) -> Similarities:
    """Cosines of every scenario with the proverbs that are not its own (``owner`` is the row of its own)."""
    thinned = 1 + len(proverbs) * len(scenarios) // most_pairs
    scenarios, owner = scenarios[::thinned], owner[::thinned]
    counts = np.zeros(2 * _STEPS + 1, dtype=np.int64)
    for start in range(0, len(scenarios), _BLOCK):
        steps = _steps(scenarios[start : start + _BLOCK], proverbs)
        own = steps[np.arange(len(steps)), owner[start : start + _BLOCK]]
        counts += _count(steps.ravel()) - _count(own)
    return Similarities(counts, thinned)


def _steps(left: Vectors, right: Vectors) -> npt.NDArray[np.int32]:
    """Cosines as the number of the step at or above each."""
    # A float32 cosine of unit vectors may come out as 1.0000001, and one of 0.9 as 0.90000004.
    cosines = np.clip(left @ right.T, -1, 1)
    steps: npt.NDArray[np.int32] = np.ceil(cosines * _STEPS - _ROUNDING).astype(np.int32) + _STEPS
    return steps


def _count(steps: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    return np.bincount(steps, minlength=2 * _STEPS + 1)
