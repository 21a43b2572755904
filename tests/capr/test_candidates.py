from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.capr.candidates import Caps, Pool, Rule, choose, medoid_rank
from pipeline.embed.interface import Vectors


def _angles(degrees: list[float]) -> Vectors:
    radians = np.deg2rad(np.array(degrees))
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def _pool(degrees: list[float], clusters: list[int], **changed: object) -> Pool:
    n = len(degrees)
    fields: dict[str, object] = {
        "ids": [f"p{i}" for i in range(n)],
        "clusters": np.array(clusters, dtype=np.int64),
        "labels": [f"label {i}" for i in range(n)],
        "groups": [f"p{i}" for i in range(n)],
        "texts": _angles(degrees),
        "meanings": _angles([i * 37.0 for i in range(n)]),
        "nearest": np.array([1, 0, 0][: max(clusters) + 1], dtype=np.int64),
    }
    return Pool(**{**fields, **changed})  # type: ignore[arg-type]


OPEN = Caps(0.999, None)
# Cluster 0: rows 0-2; cluster 1: rows 3-5. Row 0 is nearest to 2 in its cluster, to 3 outside of it.
DEGREES: list[float] = [0, 30, 10, 40, 80, 120]
HALVES = [0, 0, 0, 1, 1, 1]
SMALL = _pool(DEGREES, HALVES)


def test_roles_by_hand() -> None:
    [choice] = choose(SMALL, [0], OPEN, "paper", 1)
    assert choice.roles == ("same_cluster", "near_match", "random_cluster")
    assert choice.rows[:2] == (2, 3)
    assert choice.rows[2] in (4, 5)


def test_the_cap_passes_over_near_synonyms() -> None:
    # cos 10 degrees = 0.985 is above 0.95, cos 30 degrees = 0.866 is not.
    [choice] = choose(SMALL, [0], Caps(0.95, None), "paper", 1)
    assert choice.rows[0] == 1


def test_a_meaning_above_its_cap_is_a_second_right_answer() -> None:
    meanings = _angles([0, 90, 5, 150, 200, 250])
    pool = _pool(DEGREES, HALVES, meanings=meanings)
    [choice] = choose(pool, [0], Caps(0.999, 0.9), "paper", 1)
    assert choice.rows[0] == 1


def test_the_very_same_label_is_never_a_distractor() -> None:
    labels = ["a", "b", "a", "c", "d", "e"]
    [choice] = choose(_pool(DEGREES, HALVES, labels=labels), [0], OPEN, "paper", 1)
    assert choice.rows[0] == 1


def test_variants_never_meet() -> None:
    groups = ["p0", "p1", "p0", "p3", "p3", "p5"]
    [choice] = choose(_pool(DEGREES, HALVES, groups=groups), [0], OPEN, "paper", 1)
    assert choice.rows == (1, 3, 5)


def test_a_singleton_borrows_from_the_nearest_cluster_and_says_so() -> None:
    pool = _pool(DEGREES, [2, 0, 0, 1, 1, 1])
    [choice] = choose(pool, [0], OPEN, "paper", 1)
    assert choice.roles[0] == "same_cluster_nearest"
    assert choice.rows[0] == 2


@pytest.mark.parametrize(
    ("clusters", "cap", "reason"),
    [
        ([0, 0, 1, 1, 1, 1], 0.5, "no_same_cluster_candidate"),
        ([0, 0, 0, 0, 0, 0], 0.999, "no_near_match_candidate"),
        ([0, 0, 0, 0, 0, 1], 0.999, "no_random_cluster_candidate"),
    ],
)
def test_no_candidate_is_a_rejection_not_another_role(clusters: list[int], cap: float, reason: str) -> None:
    pool = _pool(DEGREES, clusters)
    [choice] = choose(pool, [0], Caps(cap, None), "paper", 1)
    assert (choice.reason, choice.rows) == (reason, ())
    assert choice.numbers["cluster_size"] == clusters.count(0)


def test_a_rejection_counts_what_stood_in_the_way() -> None:
    # Row 0's cluster mates: 1 is too near, 2 carries the same label; 6 is a variant, 7 means the same.
    pool = _pool(
        [0, 5, 40, 90, 120, 150, 60, 70],
        [0, 0, 0, 1, 1, 1, 0, 0],
        labels=["a", "b", "a", "c", "d", "e", "f", "g"],
        groups=["p0", "p1", "p2", "p3", "p4", "p5", "p0", "p7"],
        meanings=_angles([0, 90, 120, 200, 210, 220, 100, 1]),
    )
    [choice] = choose(pool, [0], Caps(0.9, 0.95), "paper", 1)
    assert choice.reason == "no_same_cluster_candidate"
    assert choice.numbers == {
        "cluster_size": 5,
        "candidates": 4,
        "same_label": 1,
        "variants": 1,
        "above_proverb_cap": 1,
        "above_meaning_cap": 1,
    }


def _random_pool(n: int, seed: int, n_clusters: int = 4) -> Pool:
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(2, n, 12)).astype(np.float32)
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    return Pool(
        ids=[f"p{i}" for i in range(n)],
        clusters=np.arange(n) % n_clusters,
        labels=[f"l{i}" for i in range(n)],
        groups=[f"p{i}" for i in range(n)],
        texts=points[0],
        meanings=points[1],
        nearest=(np.arange(n_clusters) + 1) % n_clusters,
    )


def _by_the_book(pool: Pool, row: int, caps: Caps) -> tuple[str, int | None, int | None, set[int]]:
    """Reason, same-cluster option, near-match and all rows that may be the random one, one row at a time."""

    def fits(other: int, *taken: int) -> bool:
        return (
            other != row
            and all(pool.groups[other] != pool.groups[t] for t in (row, *taken))
            and pool.labels[other] != pool.labels[row]
            and float(pool.texts[other] @ pool.texts[row]) <= caps.proverb
            and (caps.meaning is None or float(pool.meanings[other] @ pool.meanings[row]) <= caps.meaning)
        )

    def likeness(other: int) -> float:
        return float(pool.texts[other] @ pool.texts[row])

    own = pool.clusters[row]
    members = [i for i in range(len(pool.ids)) if pool.clusters[i] == own]
    home = own if len(members) > 1 else pool.nearest[own]
    mates = [i for i in range(len(pool.ids)) if pool.clusters[i] == home and fits(i)]
    if not mates:
        return "no_same_cluster_candidate", None, None, set()
    first = max(mates, key=likeness)
    strangers = [i for i in range(len(pool.ids)) if pool.clusters[i] != own and fits(i, first)]
    if not strangers:
        return "no_near_match_candidate", None, None, set()
    second = max(strangers, key=likeness)
    thirds = {i for i in strangers if fits(i, first, second)}
    return ("" if thirds else "no_random_cluster_candidate"), first, second, thirds


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(4, 50),
    seed=st.integers(0, 30),
    n_clusters=st.integers(2, 9),
    rule=st.sampled_from(["paper", "balanced"]),
    caps=st.sampled_from([Caps(0.9, 0.9), Caps(0.3, None), Caps(0.4, 0.2), Caps(0.0, -0.1)]),
)
def test_options_are_those_of_a_search_by_the_book(
    n: int, seed: int, n_clusters: int, rule: Rule, caps: Caps
) -> None:
    plain = _random_pool(n, seed, n_clusters)
    pool = replace(
        plain,
        labels=[f"l{i % (n - n // 4)}" for i in range(n)],
        groups=[f"p{i % (n - n // 5)}" for i in range(n)],
    )
    choices = choose(pool, list(range(n)), caps, rule, seed)
    assert len(choices) == n
    for row, choice in enumerate(choices):
        reason, first, second, thirds = _by_the_book(pool, row, caps)
        assert choice.reason == reason
        if reason:
            assert choice.rows == ()
            continue
        assert choice.rows[:2] == (first, second)
        assert choice.rows[2] in thirds
        assert len({pool.groups[i] for i in (row, *choice.rows)}) == 4
        rank = {i: medoid_rank(pool.texts[[row, *choice.rows[:2], i]]) for i in thirds}
        assert choice.medoid_rank == rank[choice.rows[2]]


def test_many_relatives_of_one_meaning_are_all_passed_over() -> None:
    # The forty nearest of the cluster mean the same as row 0; the forty-first does not.
    degrees = [0.0, *(5 + i * 0.5 for i in range(41)), 90.0, 100.0]
    meanings = _angles([0.0] * 41 + [90.0, 180.0, 200.0])
    pool = _pool(degrees, [0] * 42 + [1, 1], meanings=meanings)
    [choice] = choose(pool, [0], Caps(0.9999, 0.9), "paper", 1)
    assert choice.rows[0] == 41


def test_equal_similarities_are_settled_by_hash_and_not_by_place() -> None:
    # Ten relatives at the same place: other run seeds take other ones, the same seed the same one.
    pool = _pool([0, *[20.0] * 10, 80, 120], [0] * 11 + [1, 1])
    firsts = [choose(pool, [0], OPEN, "paper", seed)[0].rows[0] for seed in range(40)]
    assert firsts[0] == choose(pool, [0], OPEN, "paper", 0)[0].rows[0]
    assert len(set(firsts)) > 5


def test_golden_choices() -> None:
    # Thirty proverbs on a spiral in three clusters, by arithmetic; the random options were read off once.
    turns = np.deg2rad(np.arange(30) * 29.0)
    spiral = np.stack([np.cos(turns), np.sin(turns), np.arange(30) / 15], axis=1)
    texts = (spiral / np.linalg.norm(spiral, axis=1, keepdims=True)).astype(np.float32)
    pool = replace(_random_pool(30, 0, 3), texts=texts)
    choices = choose(pool, [0, 7, 14, 29], Caps(0.9, None), "paper", 20250901)
    assert [choice.rows for choice in choices] == [(12, 1, 5), (19, 8, 5), (2, 25, 10), (26, 27, 10)]
    balanced = choose(pool, [0, 7, 14, 29], Caps(0.9, None), "balanced", 20250901)
    assert [choice.rows for choice in balanced] == [(12, 1, 20), (19, 8, 18), (2, 25, 10), (26, 27, 7)]
    assert [choice.medoid_rank for choice in balanced] == [1, 1, 1, 0]


def test_blocks_give_what_one_row_at_a_time_gives() -> None:
    pool = _random_pool(600, 3)
    assert choose(pool, list(range(600)), OPEN, "paper", 5) == [
        choice for row in range(600) for choice in choose(pool, [row], OPEN, "paper", 5)
    ]


def test_a_proverb_more_moves_few_random_choices() -> None:
    def thirds(pool: Pool) -> list[int]:
        return [c.rows[2] for c in choose(pool, list(range(200)), OPEN, "paper", 5)]

    small, large = _random_pool(200, 3), _random_pool(201, 3)
    same = replace(small, texts=large.texts[:200], meanings=large.meanings[:200])
    moved = sum(a != b for a, b in zip(thirds(same), thirds(large), strict=True))
    assert moved <= 6


def test_balanced_takes_the_medoid_shortcut_away() -> None:
    pool = _random_pool(800, 1)
    share = {}
    for rule in ("paper", "balanced"):
        ranks = Counter(c.medoid_rank for c in choose(pool, list(range(800)), OPEN, rule, 5))
        share[rule] = ranks[0] / 800
    # A guesser of the medoid wins far more than chance under the paper's rule, about chance when balanced.
    assert share["paper"] > 0.45
    assert 0.20 <= share["balanced"] <= 0.30


def test_medoid_rank() -> None:
    assert medoid_rank(_angles([0, 10, -10, 180])) == 0
    assert medoid_rank(_angles([180, 0, 10, -10])) == 3
