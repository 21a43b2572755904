"""Intervals of a share over items, where a proverb's items are not independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from pipeline.hashing import stable_hash

RESAMPLES = 2000
LEVEL = 0.95

_DRAWS_AT_ONCE = 1_000_000

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A share over ``items`` items of ``proverbs`` proverbs, with both ends of its interval."""

    share: float
    low: float
    high: float
    proverbs: int
    items: int


def share_interval(
    credits: Sequence[float], proverbs: Sequence[str], *salt: str | int, level: float = LEVEL
) -> Interval:
    """The mean credit (0-1 an item) with its interval; ``proverbs`` names each item's proverb.

    Proverbs are resampled, not items: ten items of one proverb share their options, so they say little more
    than one. Percentiles of 2,000 resamples, drawn from a generator of their own seeded by ``salt``. With
    few proverbs, or none that differ, such an interval is too narrow (three misses of three give 0 to 0), so
    it is never narrower than the exact one for as many independent trials as there are proverbs. Raises
    ValueError for no item.
    """
    if not credits:
        raise ValueError("no item, so no share")
    names, owner = np.unique(np.asarray(proverbs), return_inverse=True)
    sums = np.bincount(owner, weights=np.asarray(credits, dtype=np.float64)).astype(np.float64)
    sizes = np.bincount(owner).astype(np.float64)
    share = float(sums.sum() / sizes.sum())
    drawn = _resampled(sums, sizes, stable_hash("resample", *salt))
    tail = (1 - level) / 2
    low, high = (float(end) for end in np.quantile(drawn, [tail, 1 - tail]))
    least, most = exact_interval(share, len(names), level)
    return Interval(share, min(low, least), max(high, most), len(names), len(credits))


def exact_interval(share: float, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934) of a share over so many independent trials.

    It covers the truth at least as often as its level says, however few the trials; a share of a trial
    (an item half right) is taken as it is.
    """
    hits, misses, tail = share * trials, (1 - share) * trials, (1 - level) / 2
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
    return low, high


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
