from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.capr.base import Base, FrozenCaps, FrozenProverb
from pipeline.capr.cluster import ClusterParams, cluster
from pipeline.errors import StageError
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import TableEmbedder, labels, proverbs, reasons, shuffled

PARAMS = ClusterParams()
SEEDS = proverbs()
# Two directions, three labels round each.
SPREAD: dict[str, list[float]] = {
    "calm": [1, 0],
    "ease": [1, 0.1],
    "rest": [1, 0.2],
    "speed": [0, 1],
    "hurry": [0.1, 1],
    "rush": [0.2, 1],
}


def _clusters(result: StageResult) -> dict[str, int]:
    return {row["label"]: row["cluster_id"] for row in result.rows}


def _cluster(table: pa.Table, params: ClusterParams = PARAMS) -> tuple[StageResult, TableEmbedder]:
    embedder = TableEmbedder(SPREAD)
    return cluster(table, SEEDS, embedder, params, None), embedder


def test_labels_near_each_other_share_a_cluster() -> None:
    result, embedder = _cluster(labels("speed", "calm", "ease", "hurry", "rest", "rush", "calm", "speed"))
    # Numbered by the first label of the alphabet: calm, ease, rest are 0.
    assert _clusters(result) == {"calm": 0, "ease": 0, "rest": 0, "speed": 1, "hurry": 1, "rush": 1}
    assert embedder.embedded == ["calm", "ease", "hurry", "rest", "rush", "speed"]
    assert (result.facts["k"], result.facts["k_searched"]) == (2, [2, 3])
    assert [s["k"] for s in result.facts["silhouettes"]] == [2, 3]
    assert all(s["weighted"] is not None for s in result.facts["silhouettes"])


def test_a_near_duplicate_label_counts_once_and_is_reported() -> None:
    plain, _ = _cluster(labels(*SPREAD, "calm"))
    table = labels(*SPREAD, "the calms")
    doubled, _ = _cluster(table)
    assert doubled.facts["doubled_labels"] == [{"label": "the calms", "same_as": "calm"}]
    assert doubled.rows[-1]["label_key"] == "calm"
    # Two proverbs on one theme weigh as two, whichever way it is written.
    assert doubled.facts["silhouettes"] == plain.facts["silhouettes"]


@pytest.mark.parametrize("themes", [["calm"] * 9, ["calm"], ["calm", "speed", "ease"] * 4])
def test_fewer_than_four_labels_stop_the_stage_with_counts(themes: list[str]) -> None:
    count = len(set(themes))
    with pytest.raises(
        StageError, match=f"{count} distinct theme labels for {len(themes)} proverbs, at least 4"
    ):
        _cluster(labels(*themes))


def test_equal_embeddings_are_duplicates_and_not_topics() -> None:
    # Two labels at one point, k = 2: one theme, so three are left.
    embedder = TableEmbedder({"a b": [1, 0], "c d": [1, 0], "e f": [0, 1], "g h": [-1, 0]})
    with pytest.raises(StageError, match="3 distinct theme labels for 4 proverbs"):
        cluster(labels("a b", "c d", "e f", "g h"), SEEDS, embedder, PARAMS, None)


@pytest.mark.parametrize("broken", [[0, 0], [np.nan, 1], [np.inf, 0]])
def test_a_label_without_a_usable_vector_is_rejected_and_the_others_go_on(broken: list[float]) -> None:
    embedder = TableEmbedder({**SPREAD, "blank": broken})
    with np.errstate(invalid="ignore"):
        result = cluster(labels("blank", *SPREAD, "blank"), SEEDS, embedder, PARAMS, None)
    assert reasons(result) == {"p0": "no_embedding", "p7": "no_embedding"}
    assert result.rejected[0].numbers == {"label": "blank"}
    assert _clusters(result) == {"calm": 0, "ease": 0, "rest": 0, "speed": 1, "hurry": 1, "rush": 1}
    assert result.expected == 8


def test_fewer_labels_than_the_papers_clusters_narrow_the_range_and_say_so() -> None:
    result, _ = _cluster(labels(*SPREAD), ClusterParams(k_range="paper"))
    assert result.facts["k_searched"] == [5, 5]
    assert result.facts["k_note"] == "6 labels allow k up to 5, paper: 10 to 25"


def test_too_much_memory_is_refused_before_anything_is_embedded() -> None:
    embedder = TableEmbedder()
    with pytest.raises(StageError, match=r"needs about .* GiB, the limit is 0\.0"):
        cluster(labels(*SPREAD), SEEDS, embedder, ClusterParams(memory_gib=1e-9), None)
    assert embedder.embedded == []


def _base() -> Base:
    """Four proverbs, old0 to old3, in clusters 3 and 7."""
    frozen = {
        f"old{i}": FrozenProverb("train", label, label, number)
        for i, (label, number) in enumerate([("calm", 3), ("ease", 3), ("speed", 7), ("hurry", 7)])
    }
    items = kept_table("curate", [])
    return Base("1.0", "d", "en", "table", FrozenCaps(0.85, None, 0.85), frozen, {}, items)


def _there(*ids: str) -> pa.Table:
    return proverbs(*ids, proverb_id=ids)


def test_new_labels_join_a_base_under_the_same_rules() -> None:
    base = _base()
    there = _there(*base.proverbs, "p0", "p1", "p2", "p3", "p4")
    embedder = TableEmbedder({**SPREAD, "blank": [0, 0]})
    result = cluster(labels("the calms", "rush", "blank", "rest", "rests"), there, embedder, PARAMS, base)
    new = {r["proverb_id"]: (r["label_key"], r["cluster_id"]) for r in result.rows}
    assert {i: place for i, place in new.items() if i not in base.proverbs} == {
        "p0": ("calm", 3),
        "p1": ("rush", 7),
        "p3": ("rest", 3),
        "p4": ("rest", 3),
    }
    assert result.facts["doubled_labels"] == [
        {"label": "rests", "same_as": "rest"},
        {"label": "the calms", "same_as": "calm"},
    ]
    assert reasons(result) == {"p2": "no_embedding"}
    assert result.expected == 9 == len(result.rows) + 1


def test_a_base_proverb_that_is_gone_is_rejected_and_moves_no_cluster() -> None:
    base = _base()
    # Between the two clusters, a hair nearer to the first as long as both its members count.
    embedder = TableEmbedder({**SPREAD, "between": [1, 0.97]})
    results = [
        cluster(labels("between"), _there(*ids, "p0"), embedder, PARAMS, base)
        for ids in (base.proverbs, ["old0", "old2", "old3"])
    ]
    whole, fewer = ({r["proverb_id"]: r["cluster_id"] for r in result.rows} for result in results)
    assert fewer == {i: number for i, number in whole.items() if i != "old1"}
    assert reasons(results[1]) == {"old1": "proverb_removed"}
    assert results[1].expected == 5
    assert results[1].facts["joined_the_base"] == 1


@settings(deadline=None, max_examples=40)
@given(
    themes=st.lists(st.sampled_from([f"t{i}" for i in range(14)]), min_size=8, max_size=60),
    points=st.integers(0, 9),
    setting=st.sampled_from(["paper", "adapted"]),
)
def test_every_proverb_has_one_cluster_whatever_the_row_order(
    themes: list[str], points: int, setting: Literal["paper", "adapted"]
) -> None:
    generator = np.random.default_rng(points)
    vectors = {f"t{i}": generator.normal(size=5).tolist() for i in range(14)}
    table = labels(*themes)
    params = ClusterParams(k_range=setting)
    if len(set(themes)) < 4:
        with pytest.raises(StageError, match="distinct theme labels"):
            cluster(table, SEEDS, TableEmbedder(vectors), params, None)
        return
    result = cluster(table, SEEDS, TableEmbedder(vectors), params, None)
    assert [row["proverb_id"] for row in result.rows] == table["proverb_id"].to_pylist()
    low, high = result.facts["k_searched"]
    assert low <= result.facts["k"] <= high < len(set(themes))
    numbers = Counter(row["cluster_id"] for row in result.rows)
    assert sorted(numbers) == list(range(result.facts["k"]))
    # Equal labels never part.
    assert len({(row["label"], row["cluster_id"]) for row in result.rows}) == len(set(themes))
    mixed = cluster(shuffled(table), SEEDS, TableEmbedder(vectors), params, None)
    assert sorted(mixed.rows, key=lambda r: str(r["proverb_id"])) == sorted(
        result.rows, key=lambda r: str(r["proverb_id"])
    )
    assert mixed.facts == result.facts
