from __future__ import annotations

import numpy as np
import pytest

from pipeline.capr.calibration import Cap, calibrated_cap, cross_pairs, distribution, within_pairs
from pipeline.embed.interface import Vectors


def _angles(degrees: list[float]) -> Vectors:
    radians = np.deg2rad(np.array(degrees))
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def _crowd(n: int, lean: float) -> Vectors:
    """Random unit rows that lean to one side, as an embedder's vectors do."""
    points = np.random.default_rng(n).normal(size=(n, 24)) + lean
    unit: Vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_few_pairs_keep_the_papers_cap() -> None:
    # 20 proverbs make 190 pairs, 21 make 210.
    assert calibrated_cap(within_pairs(_angles([1.0] * 20))) == Cap(0.85, None, 190)
    assert calibrated_cap(within_pairs(_angles([1.0] * 21))) == Cap(1.0, 1.0, 210)


def test_quantile_by_hand() -> None:
    found = calibrated_cap(within_pairs(_angles([i * 180 / 30 for i in range(31)])))
    # 465 pairs: the 463rd from below is one of the 30 neighbours at 6 degrees, cos 6 degrees = 0.99452.
    assert found == Cap(0.9946, 0.9946, 465)


def test_a_low_quantile_leaves_the_papers_cap() -> None:
    spread = np.eye(25, dtype=np.float32)
    assert calibrated_cap(within_pairs(spread)) == Cap(0.85, 0.0, 300)


@pytest.mark.parametrize(("n", "lean"), [(40, 0.0), (600, 1.0), (1300, 3.0)])
def test_quantile_is_that_of_all_pairs(n: int, lean: float) -> None:
    vectors = _crowd(n, lean)
    cosines = (vectors @ vectors.T)[np.triu_indices(n, k=1)]
    found = calibrated_cap(within_pairs(vectors))
    assert found.pairs == n * (n - 1) // 2
    assert found.quantile is not None
    assert (cosines > found.quantile + 1e-6).mean() <= 0.005
    assert (cosines > found.quantile - 2e-4).mean() >= 0.005 - 1 / found.pairs
    assert found.cap == max(0.85, found.quantile)


def test_row_order_changes_nothing() -> None:
    vectors = _crowd(700, 2.0)
    assert calibrated_cap(within_pairs(vectors)) == calibrated_cap(within_pairs(vectors[::-1]))


def test_a_scenario_is_not_compared_with_its_own_proverb() -> None:
    # Each scenario equals its own proverb and is at a right angle to the other.
    proverbs = _angles([0, 90])
    owner = np.arange(300) % 2
    found = calibrated_cap(cross_pairs(proverbs, proverbs[owner], owner))
    assert found == Cap(0.85, 0.0, 300)


def test_blocks_count_every_pair_once() -> None:
    proverbs, scenarios = _crowd(30, 1.0), _crowd(1100, 1.0)
    owner = np.arange(1100) % 30
    foreign = np.arange(30)[None, :] != owner[:, None]
    cosines = (scenarios @ proverbs.T)[foreign]
    counted = cross_pairs(proverbs, scenarios, owner)
    assert counted.pairs == 1100 * 29
    middle = counted.counts[: 10_000 + 5_000 + 1].sum()
    assert middle == (cosines <= 0.5 + 1e-6).sum()


def test_a_pool_too_large_is_thinned_and_says_so() -> None:
    found = calibrated_cap(within_pairs(_crowd(100, 1.0), most_pairs=1000))
    assert (found.pairs, found.thinned) == (34 * 33 // 2, 3)
    owner = np.arange(400) % 10
    crossed = calibrated_cap(cross_pairs(_crowd(10, 1.0), _crowd(400, 1.0), owner, most_pairs=1000))
    assert (crossed.pairs, crossed.thinned) == (80 * 9, 5)


def test_nothing_to_compare() -> None:
    empty = np.zeros((0, 2), dtype=np.float32)
    assert calibrated_cap(within_pairs(empty)) == Cap(0.85, None, 0)
    assert calibrated_cap(cross_pairs(empty, empty, np.zeros(0, dtype=np.int64))) == Cap(0.85, None, 0)


def test_a_distribution_by_hand() -> None:
    # Angles between 0, 60, 90, 180 degrees: 30, 60, 90, 90, 120, 180; cosines 0.866, 0.5, 0, 0, -0.5, -1.
    found = distribution(within_pairs(_angles([0, 60, 90, 180])), 0.85)
    assert (found["pairs"], found["median"], found["above_cap"], found["low"]) == (6, 0.0, 1, -1.0)
    filled = {i: count for i, count in enumerate(found["counts"]) if count}
    # Bins of 0.01 that hold their upper end, such as (-0.01, 0] and (0.86, 0.87].
    assert filled == {0: 1, 49: 1, 99: 2, 149: 1, 186: 1}


def test_a_similarity_at_the_cap_is_not_above_it() -> None:
    level = within_pairs(np.array([[1, 0], [0.85, np.sqrt(1 - 0.85**2)]], dtype=np.float32))
    assert distribution(level, 0.85)["above_cap"] == 0
    assert distribution(level, 0.8499)["above_cap"] == 1
    assert distribution(level, None)["above_cap"] is None
    assert distribution(level, 0.85) | {"counts": [1], "low": 0.84} == distribution(level, 0.85)


def test_no_pair_is_an_empty_distribution() -> None:
    found = distribution(within_pairs(_angles([0])), 0.85)
    assert (found["pairs"], found["median"], found["above_cap"], found["counts"]) == (0, None, 0, [])


@pytest.mark.parametrize(("n", "lean"), [(60, 0.0), (200, 2.0)])
def test_bins_hold_every_pair_where_it_belongs(n: int, lean: float) -> None:
    vectors = _crowd(n, lean)
    cosines = (vectors @ vectors.T)[np.triu_indices(n, k=1)]
    found = distribution(within_pairs(vectors), 0.9)
    assert sum(found["counts"]) == found["pairs"] == len(cosines)
    assert found["median"] == pytest.approx(np.median(cosines), abs=2e-4)
    centres = found["low"] + 0.01 * (np.arange(len(found["counts"])) + 0.5)
    assert (centres @ found["counts"]) / len(cosines) == pytest.approx(cosines.mean(), abs=0.002)
