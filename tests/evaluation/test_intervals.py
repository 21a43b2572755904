from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.evaluation.intervals import exact_interval, share_interval


@pytest.mark.parametrize(
    ("share", "trials", "low", "high"),
    # Newcombe 1998, table I, method 5: 0 of 20, 1 of 29, 15 of 148, 81 of 263.
    [
        (0, 20, 0, 0.1684),
        (1 / 29, 29, 0.0009, 0.1776),
        (15 / 148, 148, 0.0578, 0.1617),
        (81 / 263, 263, 0.2527, 0.3676),
    ],
)
def test_the_exact_interval_has_the_published_values(
    share: float, trials: int, low: float, high: float
) -> None:
    assert exact_interval(share, trials) == pytest.approx((low, high), abs=5e-5)


def test_independent_items_give_the_binomial_interval() -> None:
    hits = [1.0] * 300 + [0.0] * 900
    found = share_interval(hits, [f"p{i}" for i in range(1200)], 0)
    assert found.share == 0.25
    assert (found.low, found.high) == pytest.approx((0.2255, 0.2745), abs=0.003)


def test_ten_equal_items_of_a_proverb_count_as_one() -> None:
    hits = [1.0] * 30 + [0.0] * 90
    one = share_interval(hits, [f"p{i}" for i in range(120)], 0)
    ten = share_interval(
        [hit for hit in hits for _ in range(10)], [f"p{i}" for i in range(120) for _ in range(10)], 0
    )
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high), abs=0.01)
    assert (ten.proverbs, ten.items) == (120, 1200)


def test_proverbs_that_all_agree_prove_little() -> None:
    assert share_interval([0, 0, 0], ["a", "b", "c"], 0).high == pytest.approx(0.7076, abs=1e-4)
    assert share_interval([1.0] * 9, ["a", "b", "c"] * 3, 0).low == pytest.approx(0.2924, abs=1e-4)


def test_without_items_there_is_no_share() -> None:
    with pytest.raises(ValueError, match="no item"):
        share_interval([], [], 0)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=40
    )
)
def test_the_share_lies_inside_and_row_order_decides_nothing(rows: list[tuple[str, float]]) -> None:
    def of(rows: list[tuple[str, float]]) -> tuple[float, ...]:
        found = share_interval([hit for _, hit in rows], [name for name, _ in rows], "x")
        return found.share, found.low, found.high

    share, low, high = of(rows)
    assert 0 <= low <= share + 1e-12
    assert share <= high + 1e-12 <= 1 + 1e-12
    assert of(rows[::-1]) == pytest.approx((share, low, high), abs=1e-12)
