from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import pytest
from scipy.stats import multinomial

from pipeline.capr.shortcuts import Gate, shortcut_gates, verdict
from pipeline.hashing import stable_unit


def _item(proverb: str, answer: int, options: list[str], **changed: Any) -> dict[str, Any]:
    return {
        "proverb_id": proverb,
        "answer": answer,
        "options": options,
        "option_ids": options,
        "medoid_rank": 3,
        "scenario_similarities": [0.0] * 4,
        "scenario_overlaps": [0.0] * 4,
        "split": "train",
        **changed,
    }


def _gates(items: list[dict[str, Any]]) -> dict[str, Gate]:
    return {gate.baseline: gate for gate in shortcut_gates(items, run_seed=0)}


@pytest.mark.parametrize(
    ("low", "high", "right"),
    [
        (0.301, 0.5, "fail"),
        (0.30, 0.5, "undecided"),
        (0.2, 0.301, "undecided"),
        (0.2, 0.30, "pass"),
        (0.0, 0.1, "pass"),
    ],
)
def test_the_interval_decides(low: float, high: float, right: str) -> None:
    assert verdict(low, high) == right


def test_a_key_that_is_b_in_sixty_percent_fails_on_position_alone() -> None:
    # All options are equally long, so length is worth a quarter of every item.
    places = [1] * 60 + [0] * 15 + [2] * 15 + [3] * 10
    gates = _gates([_item(f"p{i}", place, ["aa", "bb", "cc", "dd"]) for i, place in enumerate(places)])
    assert gates["position"].accuracy == 0.6
    assert (gates["position"].low, gates["position"].high) == pytest.approx((0.47, 0.72), abs=0.02)
    assert gates["position"].verdict == "fail"
    assert gates["longest_option"].accuracy == 0.25
    assert gates["medoid_option"].accuracy == 0.0


@pytest.mark.parametrize("n", range(1, 9))
def test_a_fair_set_however_small_fails_on_position_once_in_forty_times_at_most(n: int) -> None:
    fails = 0.0
    for counts in itertools.product(range(n + 1), repeat=4):
        if sum(counts) == n and _position_ruling(tuple(sorted(counts, reverse=True))) == "fail":
            fails += float(multinomial.pmf(counts, n, [0.25] * 4))
    assert fails <= 0.025


@lru_cache
def _position_ruling(counts: tuple[int, ...]) -> str | None:
    places = [place for place, count in enumerate(counts) for _ in range(count)]
    gates = _gates([_item(f"p{i}", place, list("abcd")) for i, place in enumerate(places)])
    return gates["position"].verdict


def test_length_counts_characters_however_composed_and_shares_a_tie() -> None:
    # "é" is one character, composed or not: a tie between key and one distractor is worth a half.
    [tie] = [_item("p", 0, ["ne\u0301e", "née", "ab", "c"])]
    gates = _gates([tie])
    assert gates["longest_option"].accuracy == 0.5
    assert gates["shortest_option"].accuracy == 0.0


def test_the_longest_option_as_key_fails_and_the_shortest_never_right_passes() -> None:
    gates = _gates(
        [
            _item(f"p{i}", i % 4, [("long text" if k == i % 4 else "x" * (k + 1)) for k in range(4)])
            for i in range(60)
        ]
    )
    assert gates["longest_option"].verdict == "fail"
    assert gates["shortest_option"].accuracy == 0.0
    assert gates["shortest_option"].verdict == "pass"
    assert gates["position"].accuracy == 0.25
    assert gates["position"].verdict == "undecided"


def test_the_medoid_is_right_where_the_key_has_rank_zero() -> None:
    items = [_item(f"p{i}", 0, ["a", "b", "c", "d"], medoid_rank=0 if i < 40 else 1) for i in range(100)]
    assert _gates(items)["medoid_option"].accuracy == 0.4


def test_a_hub_that_is_always_a_distractor_gives_the_rarest_option_away() -> None:
    # Every item shows the hubs x, y, z beside its own key, so the key is the rarest option.
    items = [_item(f"p{i}", 3, ["x", "y", "z", f"p{i}"]) for i in range(50)]
    gates = _gates(items)
    assert gates["rarest_option"].accuracy == 1.0
    assert gates["rarest_option"].verdict == "fail"
    assert gates["commonest_option"].accuracy == 0.0


def test_a_new_option_is_reported_over_test_items_and_never_gated() -> None:
    items = [
        _item("a", 0, ["a", "b", "c", "t"]),
        _item("b", 0, ["b", "a", "c", "t"]),
        _item("t", 0, ["t", "a", "b", "u"], split="test"),
    ]
    gate = _gates(items)["new_option"]
    # a and b are keys in train, u is not: the reader is left with t and u.
    assert (gate.accuracy, gate.verdict, gate.items) == (0.5, None, 1)


def test_matching_the_scenarios_surface_is_reported_and_never_gated() -> None:
    near = {"scenario_similarities": [0.2, 0.9, 0.1, 0.0], "scenario_overlaps": [0.5, 0.5, 0.0, 0.0]}
    gates = _gates([_item(f"p{i}", 1, list("abcd"), **near) for i in range(40)])
    assert (gates["nearest_embedding"].accuracy, gates["nearest_embedding"].verdict) == (1.0, None)
    assert (gates["word_overlap"].accuracy, gates["word_overlap"].verdict) == (0.5, None)


def test_a_fair_set_of_69_proverbs_is_undecided_and_of_822_passes() -> None:
    def fair(n: int) -> Gate:
        rank = [int(stable_unit("rank", i) * 4) for i in range(n)]
        items = [
            _item(f"p{i}", slot % 4, list("abcd"), medoid_rank=rank[i]) for i in range(n) for slot in range(4)
        ]
        return _gates(items)["medoid_option"]

    assert fair(69).verdict == "undecided"
    assert fair(822).verdict == "pass"


def test_without_items_there_are_no_gates() -> None:
    assert shortcut_gates([], run_seed=0) == []
