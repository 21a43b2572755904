from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.flags import flags
from pipeline.capr.rubrics import RUBRICS


def _rating(*scores: int, fits: tuple[int, ...] = (5, 1, 1, 1)) -> dict[str, Any]:
    """One judge's row: faithfulness, naturalness, distractors; the key is A."""
    return {"status": "ok", **dict(zip(RUBRICS, scores, strict=True)), "fits": list(fits)}


INVALID = {"status": "invalid", **dict.fromkeys(RUBRICS), "fits": None}


@pytest.mark.parametrize(
    ("scores", "reasons"),
    [
        # The mean must be below 3.0: at 3.0 it is not. The spread must be above 2 points: at 2 it is not.
        ((3, 3, 3), []),
        ((2, 3, 4), []),
        ((2, 3, 3), ["faithfulness_mean"]),
        ((1, 4, 4), ["faithfulness_spread"]),
        ((1, 3, 4), ["faithfulness_mean", "faithfulness_spread"]),
        ((3, 5, 5), []),
        ((2, 5, 5), ["faithfulness_spread"]),
        ((5, 5, 5), []),
        ((1, 1, 1), ["faithfulness_mean"]),
        ((3, 3), []),
        ((2, 3), ["faithfulness_mean"]),
        ((2, 4), []),
        ((3,), []),
        ((2,), ["faithfulness_mean"]),
    ],
)
def test_mean_and_spread_at_their_boundaries(scores: tuple[int, ...], reasons: list[str]) -> None:
    found = flags([_rating(score, 5, 4) for score in scores], 0)
    assert (found.flag_paper, found.reasons) == (bool(reasons), reasons)
    assert found.means["faithfulness"] == pytest.approx(sum(scores) / len(scores))


@pytest.mark.parametrize("place", range(3))
def test_any_rubric_flags(place: int) -> None:
    scores = [4, 4, 4]
    scores[place] = 2
    assert flags([_rating(*scores)] * 3, 0).reasons == [f"{RUBRICS[place]}_mean"]


def test_no_valid_judge_is_flagged_and_invalid() -> None:
    for ratings in ([INVALID] * 3, []):
        found = flags(ratings, 0)
        assert (found.flag_paper, found.invalid, found.reasons) == (True, True, ["no_valid_judge"])
        assert (found.ambiguous, found.valid_judges) == (False, 0)
        assert found.means == dict.fromkeys(RUBRICS)


def test_an_invalid_judge_is_no_score() -> None:
    found = flags([_rating(3, 4, 4), INVALID, _rating(3, 4, 4)], 0)
    assert (found.flag_paper, found.invalid, found.valid_judges) == (False, False, 2)
    assert found.means == {"faithfulness": 3.0, "naturalness": 4.0, "distractors": 4.0}


@pytest.mark.parametrize(
    ("fits", "ambiguous"),
    [
        ([(5, 1, 1, 1)] * 3, False),
        ([(5, 5, 1, 1), (5, 1, 1, 1), (5, 1, 1, 1)], False),
        ([(5, 5, 1, 1), (5, 1, 1, 5), (5, 1, 1, 1)], True),
        ([(4, 3, 3, 3), (2, 3, 1, 1), (1, 1, 1, 1)], True),
        ([(4, 3, 3, 3), (4, 3, 3, 3), (4, 3, 3, 3)], False),
    ],
)
def test_ambiguous_takes_two_judges(fits: list[tuple[int, ...]], ambiguous: bool) -> None:
    found = flags([_rating(4, 4, 4, fits=fit) for fit in fits], 0)
    # A column of its own: the paper's flag does not move.
    assert (found.ambiguous, found.flag_paper) == (ambiguous, False)


def test_the_key_is_found_by_its_place() -> None:
    ratings = [_rating(4, 4, 4, fits=(1, 2, 5, 3))] * 3
    assert [flags(ratings, answer).ambiguous for answer in range(4)] == [True, True, False, True]


@given(
    st.lists(
        st.one_of(
            st.just(INVALID),
            st.builds(
                _rating,
                *[st.integers(1, 5)] * 3,
                fits=st.tuples(*[st.integers(1, 5)] * 4),
            ),
        ),
        max_size=5,
    ),
    st.integers(0, 3),
)
def test_flags_by_the_book_and_in_any_order(ratings: list[dict[str, Any]], answer: int) -> None:
    found = flags(ratings, answer)
    valid = [row for row in ratings if row["status"] == "ok"]
    flagged = not valid or any(
        sum(scores) < 3 * len(scores) or max(scores) - min(scores) > 2
        for rubric in RUBRICS
        if (scores := [row[rubric] for row in valid])
    )
    assert found.flag_paper is flagged is bool(found.reasons)
    assert found.invalid is (not valid)
    turned = flags(ratings[::-1], answer)
    assert (turned.flag_paper, turned.ambiguous, turned.reasons) == (
        found.flag_paper,
        found.ambiguous,
        found.reasons,
    )
