from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pipeline.capr.curate import CurateParams, curate
from pipeline.capr.rubrics import RUBRICS
from pipeline.errors import StageError
from pipeline.store.catalog import SCHEMAS
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import clusters, proverbs, reasons, shuffled

COUNT = 20
IDS = [f"p{i}" for i in range(COUNT)]


def _items() -> pa.Table:
    rows = [
        {
            "item_id": f"item-{i}",
            "item_digest": f"digest-{i}",
            "scenario_id": f"{owner}.family",
            "proverb_id": owner,
            "domain": "family",
            "scenario": f"Scenario {i}",
            "options": [f"Proverb {k}" for k in range(4)],
            "option_ids": IDS[:4],
            "roles": ["key", "same_cluster", "near_match", "random_cluster"],
            "similarities": [1.0, 0.0, 0.0, 0.0],
            "meaning_similarities": [1.0, 0.0, 0.0, 0.0],
            "scenario_similarities": [0.0, 0.0, 0.0, 0.0],
            "scenario_overlaps": [0.0, 0.0, 0.0, 0.0],
            "answer": 0,
            "medoid_rank": 0,
        }
        for i, owner in enumerate(IDS)
    ]
    return kept_table("distractors", rows)


def _judgements(scores: dict[str, int | None], digest: str = "digest-{}") -> pa.Table:
    """Three judges of one mind: 4 for every item, or what ``scores`` says (None: no judge could answer)."""
    rows = []
    for i in range(COUNT):
        score = scores.get(f"item-{i}", 4)
        for seat in range(3):
            rows.append(
                {
                    "item_id": f"item-{i}",
                    "item_digest": digest.format(i),
                    "judge": f"judge-{seat}",
                    "model": "m",
                    "status": "invalid" if score is None else "ok",
                    "why": "",
                    **dict.fromkeys(RUBRICS, score),
                    "fits": None if score is None else [5, 1, 1, 1],
                }
            )
    return kept_table("judge", rows)


def _run(scores: dict[str, int | None] | None = None, **changed: Any) -> StageResult:
    given: dict[str, Any] = {
        "items": _items(),
        "judgements": _judgements(scores or {}),
        "proverbs": proverbs(*(f"Proverb {i}" for i in range(COUNT))),
        "clusters": clusters(*(i % 2 for i in range(COUNT))),
        "cluster_names": kept_table(
            "name_clusters", [{"cluster_id": 0, "name": "Haste", "proverbs": 10, "labels": ["zzlabelzz"]}]
        ),
        "frozen_splits": [],
        "run_seed": 1,
        "params": CurateParams(),
        "base": None,
        **changed,
    }
    return curate(**given)


def test_flagged_items_stay_by_default_and_go_by_name_where_asked() -> None:
    scores: dict[str, int | None] = {"item-3": 2, "item-5": None}
    kept = _run(scores)
    flagged = {row["item_id"]: row["flag_reasons"] for row in kept.rows if row["flag_paper"]}
    means = [f"{rubric}_mean" for rubric in RUBRICS]
    assert flagged == {"item-3": means, "item-5": ["no_valid_judge"]}
    assert (len(kept.rows), kept.rejected, kept.facts["flagged"], kept.facts["invalid"]) == (COUNT, [], 2, 1)
    assert kept.facts["flag_reasons"] == {**dict.fromkeys(means, 1), "no_valid_judge": 1}
    dropped = _run(scores, params=CurateParams(drop_flagged=True))
    assert reasons(dropped) == {"item-3": "flagged", "item-5": "flagged"}
    assert dropped.rejected[0].numbers["faithfulness"] == 2.0
    assert len(dropped.rows) + len(dropped.rejected) == dropped.expected == COUNT
    # What is dropped moves nobody's split.
    splits = {row["item_id"]: row["split"] for row in kept.rows}
    assert all(splits[row["item_id"]] == row["split"] for row in dropped.rows)


def test_labels_never_reach_the_dataset() -> None:
    result = _run(clusters=clusters(*(i % 2 for i in range(COUNT)), themes=["zzlabelzz"] * COUNT))
    assert not [name for name in SCHEMAS["curate"].names if "label" in name]
    assert "zzlabelzz" not in str(result.rows)
    assert {row["cluster"] for row in result.rows} == {"Haste", "cluster 1 (unnamed)"}


def test_five_paraphrases_of_one_source_share_a_split() -> None:
    # Whichever of the twenty they are, and whatever the seed.
    for first in range(0, 16, 3):
        family = set(IDS[first : first + 5])
        seeds = proverbs(
            *(f"Proverb {i}" for i in range(COUNT)),
            group=[f"p{first}" if proverb_id in family else proverb_id for proverb_id in IDS],
        )
        for seed in range(4):
            rows = _run(proverbs=seeds, run_seed=seed).rows
            assert len({row["split"] for row in rows if row["proverb_id"] in family}) == 1
            assert {row["split"] for row in rows} == {"train", "validation", "test"}


def test_a_judgement_of_another_text_is_refused_by_name() -> None:
    with pytest.raises(StageError, match=r"judgement of item-0 by judge-0 was made for another text"):
        _run(judgements=_judgements({}, digest="old-{}"))


def test_an_item_without_any_judgement_is_invalid_and_not_dropped() -> None:
    judgements = _judgements({}).slice(3)
    rows = {row["item_id"]: row for row in _run(judgements=judgements).rows}
    assert (rows["item-0"]["invalid"], rows["item-0"]["flag_paper"]) == (True, True)
    assert rows["item-1"]["invalid"] is False


def test_row_order_changes_nothing_but_order() -> None:
    straight = _run({"item-3": 2})
    mixed = _run(
        items=shuffled(_items()),
        judgements=shuffled(_judgements({"item-3": 2})),
        proverbs=shuffled(proverbs(*(f"Proverb {i}" for i in range(COUNT)))),
        clusters=shuffled(clusters(*(i % 2 for i in range(COUNT)))),
    )
    assert sorted(mixed.rows, key=str) == sorted(straight.rows, key=str)
    assert mixed.facts == straight.facts


def test_an_item_without_means_fits_its_table() -> None:
    rows = _run({"item-5": None}).rows
    assert kept_table("curate", rows).num_rows == len(rows) > 0
