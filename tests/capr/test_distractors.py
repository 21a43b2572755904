from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.capr.distractors import DistractorParams, _equal_options, distractors
from pipeline.capr.domains import DOMAINS
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import TableEmbedder, clusters, language, proverbs, reasons, shuffled

FIXED = DistractorParams(similarity_cap="fixed", meaning_cap=False)
# Degrees of six proverbs on a circle, two clusters; p0 is nearest to p2 in its own, to p3 in the other.
DEGREES = [0, 50, 35, 45, 80, 120]
TEXTS = tuple(f"Proverb {letter}" for letter in "abcdef")


def _embedder(degrees: list[float] | None = None, **extra: list[float]) -> TableEmbedder:
    turns = np.deg2rad(DEGREES if degrees is None else degrees)
    circle = {text: [float(np.cos(t)), float(np.sin(t))] for text, t in zip(TEXTS, turns, strict=True)}
    return TableEmbedder({**circle, **extra})


def _filtered(*owners: str, slots: int = 1) -> pa.Table:
    rows = [
        {
            "scenario_id": f"{owner}.{slot}",
            "proverb_id": owner,
            "domain": slot,
            "text": f"A scenario of {owner} in {slot}",
            "words": 12,
            "script_share": 1.0,
            "verdict": "yes",
            "overlap": 0.0,
            "similarity": 0.1,
            "similarity_cap": 0.85,
            "content_words": [],
        }
        for owner in owners
        for slot in list(DOMAINS)[:slots]
    ]
    return kept_table("filter", rows)


def _run(table: pa.Table, params: DistractorParams = FIXED, **changed: Any) -> StageResult:
    given: dict[str, Any] = {
        "filtered": table,
        "proverbs": proverbs(*TEXTS),
        "clusters": clusters(0, 0, 0, 1, 1, 1),
        "language": language(),
        "embedder": _embedder(),
        "run_seed": 1,
        "params": params,
        "base": None,
        **changed,
    }
    return distractors(**given)


def test_an_item_by_hand() -> None:
    [item] = _run(_filtered("p0")).rows
    by_role = dict(zip(item["roles"], item["option_ids"], strict=True))
    assert (by_role["key"], by_role["same_cluster"], by_role["near_match"]) == ("p0", "p2", "p3")
    assert by_role["random_cluster"] in ("p4", "p5")
    assert item["options"] == [TEXTS[int(i[1])] for i in item["option_ids"]]
    assert item["option_ids"][item["answer"]] == "p0"
    assert item["scenario"] == "A scenario of p0 in workplace"
    assert item["item_id"].startswith("p0.workplace.")
    places = {role: i for i, role in enumerate(item["roles"])}
    assert item["similarities"][places["same_cluster"]] == pytest.approx(np.cos(np.deg2rad(35)), abs=1e-6)
    assert item["meaning_similarities"][item["answer"]] == pytest.approx(1)


def test_what_each_option_shares_with_the_scenario_is_noted_and_decides_nothing() -> None:
    texts = ("Stone waits", "River bends", "Stone bends", "Stone", "Cloud drifts", "River waits")
    turns = [*DEGREES, 80]
    row = _filtered("p0").to_pylist()[0] | {"content_words": ["bends", "stone", "waits"]}
    vectors = {
        text: [float(np.cos(np.deg2rad(turn))), float(np.sin(np.deg2rad(turn)))]
        for text, turn in zip((*texts, row["text"]), turns, strict=True)
    }
    changed = {"proverbs": proverbs(*texts), "embedder": TableEmbedder(vectors)}
    [item] = _run(kept_table("filter", [row]), **changed).rows
    assert set(item["option_ids"]) in ({"p0", "p2", "p3", "p4"}, {"p0", "p2", "p3", "p5"})
    shares = {"p0": 1.0, "p2": 1.0, "p3": 1.0, "p4": 0.0, "p5": 0.5}
    assert item["scenario_overlaps"] == [shares[i] for i in item["option_ids"]]
    degrees = np.array([DEGREES[int(i[1])] - 80 for i in item["option_ids"]])
    assert item["scenario_similarities"] == pytest.approx(np.cos(np.deg2rad(degrees)), abs=1e-6)
    [other] = _run(kept_table("filter", [row | {"content_words": []}]), **changed).rows
    assert other["scenario_overlaps"] == [0.0] * 4
    assert {**other, "scenario_overlaps": item["scenario_overlaps"]} == item


def test_the_cap_of_085_is_the_papers() -> None:
    # cos 31.8 degrees = 0.8499, cos 31.7 degrees = 0.8508.
    for degrees, expected in ((31.8, "p2"), (31.7, "p1")):
        [item] = _run(_filtered("p0"), embedder=_embedder([0, 50, degrees, 45, 80, 120])).rows
        assert item["option_ids"][item["roles"].index("same_cluster")] == expected


def test_no_candidate_is_a_rejection_with_counts_and_caps() -> None:
    # Both of the cluster's others are within 31 degrees.
    result = _run(_filtered("p0", slots=2), embedder=_embedder([0, 20, 30, 45, 80, 120]))
    assert reasons(result) == {
        "p0.workplace": "no_same_cluster_candidate",
        "p0.family": "no_same_cluster_candidate",
    }
    numbers = result.rejected[0].numbers
    assert (numbers["cluster_size"], numbers["candidates"], numbers["above_proverb_cap"]) == (3, 2, 2)
    assert numbers["proverb_cap"]["cap"] == 0.85


def test_the_meaning_cap_keeps_synonyms_out_and_the_papers_rule_does_not_look() -> None:
    seeds = proverbs(*TEXTS, meaning=["alike", "c", "alike too", "d", "e", "f"])
    embedder = _embedder(alike=[0.0, 0.0, 1.0], **{"alike too": [0.0, 0.1, 1.0]})
    strict = DistractorParams(similarity_cap="fixed", meaning_cap=True)
    for params, expected in ((strict, "p1"), (FIXED, "p2")):
        [item] = _run(_filtered("p0"), params, proverbs=seeds, embedder=embedder).rows
        assert item["option_ids"][item["roles"].index("same_cluster")] == expected


def test_a_near_duplicate_label_is_the_very_same_theme() -> None:
    themes = ["calm", "rest", "calm", "d", "e", "f"]
    [item] = _run(_filtered("p0"), clusters=clusters(0, 0, 0, 1, 1, 1, themes=themes)).rows
    assert item["option_ids"][item["roles"].index("same_cluster")] == "p1"


def test_the_keys_place_is_dealt_evenly_over_a_proverbs_scenarios() -> None:
    rows = _run(_filtered("p0", "p5", slots=8)).rows
    for owner in ("p0", "p5"):
        places = Counter(row["answer"] for row in rows if row["proverb_id"] == owner)
        assert places == dict.fromkeys(range(4), 2)


def test_a_proverb_without_cluster_or_vector_is_rejected_and_never_an_option() -> None:
    seeds = proverbs(*TEXTS, "Proverb without cluster", "Proverb without vector")
    table = _filtered("p0", "p6", "p7")
    numbers = clusters(0, 0, 0, 1, 1, 1, 0, 0).filter(pa.array([True] * 6 + [False, True]))
    embedder = _embedder(**{"Proverb without vector": [0.0, 0.0]})
    result = _run(table, proverbs=seeds, clusters=numbers, embedder=embedder)
    assert reasons(result) == {"p6.workplace": "not_clustered", "p7.workplace": "no_embedding"}
    assert len(result.rows) == 1


def test_seeds_longer_than_the_window_are_counted() -> None:
    embedder = TableEmbedder(
        {text: [float(i), 1.0] for i, text in enumerate(TEXTS)}, long=["meaning of Proverb a", "Proverb b"]
    )
    assert _run(_filtered("p0"), embedder=embedder).facts["longer_than_embedder_window"] == {
        "text": 1,
        "meaning": 1,
    }


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("石橋を叩いて渡る", "石橋を叩いて渡る", True),
        ("Time\u00a0flies", "time flies", True),
        ("Ｔｉｍｅ ｆｌｉｅｓ", "Time flies", True),
        ("ﻣﺪﻳﻨﺔ كبيرة", "مدينة كبيرة", True),
        ("ｱﾘｶﾞﾄｳ", "アリガトウ", True),
        ("ሰላም  ለዓለም", "ሰላም ለዓለም", True),
        ("Time flies", "Time flies.", False),
    ],
)
def test_options_that_are_one_text_reject_the_item(one: str, other: str, equal: bool) -> None:
    assert bool(_equal_options(["a", one, "b", other])) is equal
    texts = (*TEXTS[:2], one, other, *TEXTS[4:])
    vectors = {
        text: [float(np.cos(t)), float(np.sin(t))] for text, t in zip(texts, np.deg2rad(DEGREES), strict=True)
    }
    result = _run(_filtered("p0"), proverbs=proverbs(*texts), embedder=TableEmbedder(vectors), run_seed=5)
    if not equal:
        assert result.rejected == []
        return
    [rejection] = result.rejected
    assert rejection.reason == "equal_options"
    assert sorted(rejection.numbers["equal"]) == sorted([one, other])


def test_nothing_to_choose_for() -> None:
    empty = _run(_filtered())
    assert (empty.rows, empty.rejected, empty.expected) == ([], [], 0)


def _random(n: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    texts = [f"Proverb number {i}" for i in range(n)]
    vectors = {text: generator.normal(size=6).tolist() for text in texts}
    vectors |= {f"meaning of {text}": generator.normal(size=6).tolist() for text in texts}
    themes = [f"theme {generator.integers(0, n)}" for _ in range(n)]
    groups = [f"p{generator.integers(0, i + 1) if generator.random() < 0.2 else i}" for i in range(n)]
    return {
        "filtered": _filtered(*(f"p{i}" for i in range(n)), slots=int(generator.integers(1, 6))),
        "proverbs": proverbs(*texts, group=groups),
        "clusters": clusters(*generator.integers(0, max(2, n // 4), size=n).tolist(), themes=themes),
        "embedder": TableEmbedder(vectors, size=500),
        "run_seed": seed,
    }


RULES = [
    DistractorParams(rule=rule, similarity_cap=cap, meaning_cap=meaning)
    for rule in ("paper", "balanced")
    for cap, meaning in (("fixed", False), ("calibrated", True))
]


@settings(deadline=None, max_examples=60)
@given(n=st.integers(4, 40), seed=st.integers(0, 200), params=st.sampled_from(RULES))
def test_every_item_is_sound_whatever_the_table(n: int, seed: int, params: DistractorParams) -> None:
    given_ = _random(n, seed)
    result = _run(given_["filtered"], params, **{k: v for k, v in given_.items() if k != "filtered"})
    assert len(result.rows) + len(result.rejected) == result.expected == given_["filtered"].num_rows
    label = {r["proverb_id"]: r["label_key"] for r in given_["clusters"].to_pylist()}
    cluster = {r["proverb_id"]: r["cluster_id"] for r in given_["clusters"].to_pylist()}
    group = {r["proverb_id"]: r["group"] for r in given_["proverbs"].to_pylist()}
    for item in result.rows:
        key = item["proverb_id"]
        by_role = dict(zip(item["roles"], item["option_ids"], strict=True))
        assert len(set(item["option_ids"])) == len(set(item["options"])) == 4
        assert item["option_ids"][item["answer"]] == key
        assert all(label[i] != label[key] for i in item["option_ids"] if i != key)
        assert len({group[i] for i in item["option_ids"]}) == 4
        assert cluster[by_role["near_match"]] != cluster[key] != cluster[by_role["random_cluster"]]
        same = [i for i in cluster if cluster[i] == cluster[key]]
        if len(same) > 1:
            assert cluster[by_role["same_cluster"]] == cluster[key]
        else:
            assert cluster[by_role["same_cluster_nearest"]] != cluster[key]
        cap = result.facts["caps"]["proverb_cap"]["cap"]
        for place, similarity in enumerate(item["similarities"]):
            assert place == item["answer"] or similarity <= cap + 1e-6


@settings(deadline=None, max_examples=25)
@given(n=st.integers(6, 30), seed=st.integers(0, 200), params=st.sampled_from(RULES))
def test_row_order_changes_nothing_but_order(n: int, seed: int, params: DistractorParams) -> None:
    given_ = _random(n, seed)
    table = given_.pop("filtered")
    straight = _run(table, params, **given_)
    mixed_tables = {**given_, **{k: shuffled(given_[k], seed) for k in ("proverbs", "clusters")}}
    mixed = _run(shuffled(table, seed + 1), params, **mixed_tables)
    assert sorted(mixed.rows, key=lambda r: str(r["item_id"])) == sorted(
        straight.rows, key=lambda r: str(r["item_id"])
    )
    assert reasons(mixed) == reasons(straight)
    assert mixed.facts == straight.facts


def test_a_row_more_moves_no_place_and_no_order_of_the_others() -> None:
    # A newcomer in a third cluster, far from all: it may be hashed in front as a random option, no more.
    owners = ("p0", "p2", "p4", "p5")
    before = {row["scenario_id"]: row for row in _run(_filtered(*owners, slots=4)).rows}
    after = _run(
        _filtered(*owners, "p6", slots=4),
        proverbs=proverbs(*TEXTS, "Proverb g"),
        clusters=clusters(0, 0, 0, 1, 1, 1, 2),
        embedder=_embedder(**{"Proverb g": [-1.0, -1.0]}),
    ).rows
    seen = {row["scenario_id"]: row for row in after}
    assert before
    moved = 0
    for scenario, was in before.items():
        now = seen[scenario]
        assert now["answer"] == was["answer"]
        stayed = set(was["option_ids"]) & set(now["option_ids"]) - {was["proverb_id"]}
        assert [i for i in now["option_ids"] if i in stayed] == [i for i in was["option_ids"] if i in stayed]
        assert set(now["option_ids"]) - set(was["option_ids"]) <= {"p6"}
        moved += now["option_ids"] != was["option_ids"]
    assert moved < len(before)
