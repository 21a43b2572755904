"""Intervals of a share over items, where a proverb's items are not independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.hashing import stable_hash

RESAMPLES = 2000
LEVEL = 0.95
_Z = 1.959964
"""The normal quantile of a two-sided 95 % interval."""

_DRAWS_AT_ONCE = 1_000_000

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A share over ``items`` items of ``proverbs`` proverbs, with both ends of its 95 % interval."""

    share: float
    low: float
    high: float
    proverbs: int
    items: int


def share_interval(credits: Sequence[float], proverbs: Sequence[str], *salt: str | int) -> Interval:
    """The mean credit (0-1 an item) with its interval; ``proverbs`` names each item's proverb.

    Proverbs are resampled, not items: ten items of one proverb share their options, so they say little more
    than one. Percentiles of 2,000 resamples, drawn from a generator of their own seeded by ``salt``. With
    few proverbs, or none that differ, such an interval is too narrow (three misses of three give 0 to 0), so
    it is never narrower than Wilson's for as many independent trials as there are proverbs. Raises
    ValueError for no item.
    """
    if not credits:
        raise ValueError("no item, so no share")
    names, owner = np.unique(np.asarray(proverbs), return_inverse=True)
    sums = np.bincount(owner, weights=np.asarray(credits, dtype=np.float64)).astype(np.float64)
    sizes = np.bincount(owner).astype(np.float64)
    share = float(sums.sum() / sizes.sum())
    drawn = _resampled(sums, sizes, stable_hash("resample", *salt))
    tail = (1 - LEVEL) / 2
    low, high = (float(end) for end in np.quantile(drawn, [tail, 1 - tail]))
    least, most = wilson(share, len(names))
    return Interval(share, min(low, least), max(high, most), len(names), len(credits))


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share over so many independent trials."""
    square = _Z * _Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    spread = share * (1 - share) / trials + square / (4 * trials * trials)
    half = _Z * float(np.sqrt(spread)) / (1 + square / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def _resampled(sums: Array, sizes: Array, seed: int) -> Array:
    """The share of each resample; so many at once as memory allows without a thought."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _DRAWS_AT_ONCE // len(sums))
    shares = [
        sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)
        for start in range(0, RESAMPLES, at_once)
        for rows in [generator.integers(len(sums), size=(min(at_once, RESAMPLES - start), len(sums)))]
    ]
    return np.concatenate(shares)
