from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.agreement import agreement
from pipeline.capr.rubrics import ACCEPTABLE, RUBRICS

Scores = list[list[int | None]]


def _rows(table: Scores) -> list[dict[str, Any]]:
    """Judge rows from a table of judges by items; None is a judge that could not answer."""
    return [
        {
            "judge": f"judge-{j}",
            "item_id": f"item-{i}",
            "status": "invalid" if score is None else "ok",
            **dict.fromkeys(RUBRICS, score),
        }
        for j, scores in enumerate(table)
        for i, score in enumerate(scores)
    ]


def _faithfulness(table: Scores) -> dict[str, Any]:
    return agreement(_rows(table))["faithfulness"]


def test_alpha_is_zero_where_almost_all_is_equal_and_raw_agreement_stands_beside_it() -> None:
    found = _faithfulness([[3, 3, 3, 3, 3], [3, 3, 3, 3, 1]])
    assert found["alpha"] == 0.0
    assert found["raw_agreement"] == 0.8


def test_missing_ratings_count_for_nothing() -> None:
    found = _faithfulness([[1, 1, 2], [1, 1, None], [None, 1, 2]])
    assert (found["alpha"], found["raw_agreement"], found["items"]) == (1.0, 1.0, 3)
    assert "alpha" not in found["why"]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[3, 3], [3, 3]], "all 4 ratings are equal"),
        ([[1, 2, 3]], "needs the ratings of two judges, has those of 1"),
        ([[1, 2, 3], [None, None, None]], "needs the ratings of two judges, has those of 1"),
        ([[1, None], [None, 5]], "no item has two valid ratings"),
        ([[None, None], [None, None]], "needs the ratings of two judges, has those of 0"),
        ([], "needs the ratings of two judges, has those of 0"),
    ],
)
def test_what_is_undefined_is_none_with_its_reason(table: Scores, why: str) -> None:
    found = _faithfulness(table)
    assert found["alpha"] is None
    assert found["why"]["alpha"] == why
    assert found["alpha_standardised"] is None


def test_raw_agreement_and_pass_rate_are_undefined_with_a_reason_too() -> None:
    alone = _faithfulness([[5, 2, 4]])
    assert (alone["raw_agreement"], alone["why"]["raw_agreement"]) == (None, "no item has two valid ratings")
    assert alone["pass_rate"] == pytest.approx(2 / 3, abs=1e-6)
    nobody = _faithfulness([[None], [None]])
    assert (nobody["pass_rate"], nobody["why"]["pass_rate"]) == (None, "no item has a valid rating")


def test_alpha_by_hand() -> None:
    # Two judges, items (1,2), (2,1), (4,4): observed disagreement 4 / 6, expected 2 * 38 / 30 by all pairs.
    values = [1, 2, 2, 1, 4, 4]
    observed = (2 * 1 + 2 * 1 + 2 * 0) / 6
    expected = sum((a - b) ** 2 for a in values for b in values) / (6 * 5)
    assert _faithfulness([[1, 2, 4], [2, 1, 4]])["alpha"] == pytest.approx(1 - observed / expected, abs=1e-6)


def test_standardising_takes_another_offset_away() -> None:
    # The second judge is two points harsher and of the same mind, as the paper saw its judges.
    found = _faithfulness([[3, 4, 5, 4], [1, 2, 3, 2]])
    assert found["alpha"] < 0
    assert found["alpha_standardised"] == 1.0
    assert found["raw_agreement"] == 0.0


def test_a_judge_that_always_says_the_same_has_no_standard_score() -> None:
    found = _faithfulness([[3, 4, 5], [3, 4, 5], [5, 5, 5]])
    assert found["alpha_standardised"] == 1.0
    assert found["why"] == {"alpha_standardised without judge-2": "all its 3 ratings are equal"}


def test_pass_rate_is_the_papers_two_of_three() -> None:
    # Acceptable from 4: two of three pass item 0, one of three item 1; on item 2 one judge failed and one of
    # the others passes; on item 3 both that answered pass; item 4 has no valid rating and is not counted.
    table: Scores = [[4, 4, 5, 5, None], [4, 3, 3, 4, None], [1, 3, None, None, None]]
    assert ACCEPTABLE == {"faithfulness": 4, "naturalness": 4, "distractors": 3}
    found = agreement(_rows(table))
    assert (found["faithfulness"]["pass_rate"], found["faithfulness"]["items"]) == (0.5, 4)
    assert found["distractors"]["pass_rate"] == 1.0


@given(
    st.integers(0, 4).flatmap(
        lambda judges: st.lists(
            st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=judges, max_size=judges),
            max_size=6,
        )
    )
)
def test_any_ratings_give_a_number_or_a_reason(items: Scores) -> None:
    table = [list(column) for column in zip(*items, strict=True)]
    for found in agreement(_rows(table)).values():
        for name in ("alpha", "alpha_standardised", "raw_agreement", "pass_rate"):
            value = found[name]
            assert (value is None) is (name in found["why"])
            assert value is None or (math.isfinite(value) and -1.1 <= value <= 1)
        assert agreement(_rows(table)[::-1]) == agreement(_rows(table))
