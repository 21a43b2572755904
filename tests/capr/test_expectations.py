from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.clustering import KRange, predicted_bytes
from pipeline.capr.expectations import (
    Calls,
    Interval,
    Sizes,
    clusters_of_meanings,
    expect,
    proverbs_needed,
    resampled_interval,
    sizes_of,
)
from tests.embed.hash_embedder import HashEmbedder


def test_the_papers_japanese_and_arabic_sizes() -> None:
    # 69 proverbs: 10 in test and 100 items, as in the paper's table 2; 822: 123.
    japanese = expect(69, 10, 3, "adapted")
    assert (japanese.test_proverbs, japanese.test_items) == (10, 100)
    # Ten coins: 2.5 % of the draws have at most 2 heads, 97.5 % at most 8.
    assert japanese.alike == Interval(0.2, 0.8)
    assert japanese.apart == Interval(0.4, 0.6)
    assert japanese.k == KRange(6, 25)
    assert japanese.calls == Calls(69, 25, 690, 2070)
    assert japanese.calls.total == 2854
    assert japanese.memory == predicted_bytes(69)
    arabic = expect(822, 10, 3, "paper")
    assert (arabic.test_proverbs, arabic.test_items, arabic.k) == (123, 1230, KRange(10, 25))


def test_too_few_proverbs_promise_nothing() -> None:
    few = expect(3, 3, 3, "adapted")
    assert (few.alike, few.apart, few.k) == (None, None, None)
    assert few.calls == Calls(3, 0, 9, 27)


def test_the_interval_is_that_of_drawing_proverbs_again() -> None:
    right = np.array([1.0] * 14 + [0.0] * 6)
    draws = np.random.default_rng(0).choice(right, size=(40_000, 20)).mean(axis=1)
    interval = resampled_interval(20, 0.7)
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx([interval.low, interval.high], abs=1e-9)


def test_items_that_are_not_alike_narrow_it() -> None:
    # Half of each proverb's ten items right: proverbs drawn again all give one half, items alone vary.
    alike, apart = resampled_interval(10, 0.5), resampled_interval(100, 0.5)
    assert (apart.high - apart.low) < (alike.high - alike.low) / 2


def test_proverbs_for_five_points() -> None:
    # 1.96^2 / 4 / 0.05^2 = 384.16 units; 385 test proverbs are 15 % of 2567, 39 of 260.
    assert proverbs_needed(0.05, 10) == (260, 2567)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_sizes_sum_up(clusters: list[int]) -> None:
    sizes = sizes_of(clusters)
    assert sizes.k == len(set(clusters))
    assert 1 <= sizes.least <= sizes.middle <= sizes.most <= len(clusters)
    assert sizes.alone == sum(clusters.count(c) == 1 for c in set(clusters))
    assert sizes.k * sizes.least <= len(clusters) <= sizes.k * sizes.most


def test_meanings_stand_in_for_labels() -> None:
    meanings = [f"meaning number {i}" for i in range(11)] + ["meaning number 3"]
    found = clusters_of_meanings(meanings, HashEmbedder(), "adapted")
    assert found is not None
    assert 2 <= found.k <= 5
    assert found.k * found.least <= 12 <= found.k * found.most
    # The order of the rows and two proverbs of one meaning change no cluster.
    assert clusters_of_meanings(meanings[::-1], HashEmbedder(), "adapted") == found
    assert clusters_of_meanings(["a", "b", "c", "c"], HashEmbedder(), "adapted") is None
    assert sizes_of([0, 0, 1, 2]) == Sizes(3, 1, 1.0, 2, 2)
