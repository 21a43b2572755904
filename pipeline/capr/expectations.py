"""What a number of proverbs lets one expect of a benchmark: intervals, clusters, calls, before any call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Literal

import numpy as np
from scipy.stats import binom

from pipeline.capr.clustering import LEAST_LABELS, KRange, k_range, predicted_bytes, search_k
from pipeline.capr.splitting import held_out
from pipeline.embed.interface import Embedder

LEVEL = 0.95
WIDEST = 0.5
"""The accuracy at which an interval is widest."""

_SIGMAS = 1.96


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of an accuracy, both ends from 0 to 1."""

    low: float
    high: float


@dataclass(frozen=True)
class Sizes:
    """Sizes of ``k`` clusters: proverbs in the smallest, the middle and the largest; clusters of one."""

    k: int
    least: int
    middle: float
    most: int
    alone: int


@dataclass(frozen=True)
class Calls:
    """Most model calls of a build in which every reply will do, by stage."""

    label: int
    name_clusters: int
    scenarios: int
    judge: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.label + self.name_clusters + self.scenarios + self.judge


@dataclass(frozen=True)
class Expectations:
    """What to expect of so many proverbs.

    ``alike`` is the interval around an accuracy of 50 % on the test split when a model has all items of a
    proverb right or all wrong, ``apart`` when it has them right or wrong independently. ``k`` is None where
    too few proverbs are left to cluster. ``memory`` is in bytes.
    """

    proverbs: int
    domains: int
    test_proverbs: int
    test_items: int
    alike: Interval | None
    apart: Interval | None
    k: KRange | None
    memory: int
    calls: Calls


def expect(proverbs: int, domains: int, judges: int, setting: Literal["paper", "adapted"]) -> Expectations:
    """What ``proverbs`` x ``domains`` give at most: rejected scenarios and shared labels only take away."""
    test = held_out(proverbs)
    searched = k_range(proverbs, proverbs, setting) if proverbs >= LEAST_LABELS else None
    scenarios = proverbs * domains
    return Expectations(
        proverbs=proverbs,
        domains=domains,
        test_proverbs=test,
        test_items=test * domains,
        alike=resampled_interval(test, WIDEST) if test else None,
        apart=resampled_interval(test * domains, WIDEST) if test else None,
        k=searched,
        memory=predicted_bytes(proverbs),
        calls=Calls(proverbs, searched.high if searched else 0, scenarios, scenarios * judges),
    )


def resampled_interval(units: int, accuracy: float) -> Interval:
    """The percentile bootstrap interval (Efron 1979) of an accuracy over so many independent units.

    Drawing n units with replacement from n of which a share p is right gives Binomial(n, p) / n right ones,
    so no draws are needed. Units are proverbs where a model has all items of a proverb right or all wrong,
    and items where they are independent. What lies between is ruled by how alike a proverb's items are:
    the variance grows by 1 + (items - 1) x intraclass correlation (design effect, Kish 1965).
    """
    tail = (1 - LEVEL) / 2
    low, high = binom.ppf([tail, 1 - tail], units, accuracy) / units
    return Interval(float(low), float(high))


def proverbs_needed(half_width: float, domains: int) -> tuple[int, int]:
    """Seeds for an interval of plus or minus ``half_width`` around 50 %: items independent, and all alike.

    By the normal approximation, n = z^2 p (1 - p) / w^2 units in the test split, 15 % of the seeds.
    """
    # A division such as 0.9604 / 0.0025 must not come out a hair above the whole number.
    units = ceil(round(_SIGMAS**2 * WIDEST * (1 - WIDEST) / half_width**2, 6))
    return _seeds_for(ceil(units / domains)), _seeds_for(units)


def sizes_of(clusters: Sequence[int]) -> Sizes:
    """Sizes of the clusters, given each proverb's."""
    counts = np.bincount(np.asarray(clusters, dtype=np.int64))
    sizes = counts[counts > 0].tolist()
    return Sizes(len(sizes), min(sizes), float(median(sizes)), max(sizes), sizes.count(1))


def clusters_of_meanings(
    meanings: Sequence[str], embedder: Embedder, setting: Literal["paper", "adapted"]
) -> Sizes | None:
    """Sizes when meanings are clustered in place of the theme labels, which no model has written yet.

    A rough guide: labels are shorter, and several proverbs may share one. None below four distinct meanings.
    """
    weights = Counter(meanings)
    names = sorted(weights)
    if len(names) < LEAST_LABELS:
        return None
    searched = k_range(len(meanings), len(names), setting)
    found = search_k(embedder.embed(names), [weights[name] for name in names], searched.low, searched.high)
    cluster_of = dict(zip(names, found.clusters.tolist(), strict=True))
    return sizes_of([cluster_of[meaning] for meaning in meanings])


def _seeds_for(test: int) -> int:
    return next(n for n in range(test * 100 // 15, test * 100 // 15 + 8) if held_out(n) >= test)
