"""Sample items: spread over the clusters, each with its options' roles and the numbers that decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pyarrow as pa

from pipeline.capr.rubrics import RUBRICS
from pipeline.hashing import stable_hash, stable_order

SAMPLES = 30
_LETTERS = "ABCD"


@dataclass(frozen=True)
class Option:
    """One option: ``similarity`` and ``meaning_similarity`` are cosines with the key's; ``fit`` is the mean
    of the valid judges' ratings, 1-5."""

    letter: str
    text: str
    role: str
    similarity: float
    meaning_similarity: float
    fit: float | None


@dataclass(frozen=True)
class Sample:
    """One item as the report shows it; ``scenario_facts`` is its row of the filter, None for an old item."""

    item: Mapping[str, Any]
    options: list[Option]
    meaning: str
    meaning_from: str
    scenario_facts: Mapping[str, Any] | None
    ratings: list[tuple[str, float | None]]
    judges: int


def choose_samples(items: Sequence[Mapping[str, Any]], run_seed: int) -> list[Mapping[str, Any]]:
    """At most 30 items: one of each cluster in turn, in the order of a hash, so that every theme is seen."""
    queues: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for item in sorted(items, key=lambda i: (stable_hash(run_seed, "sample", i["item_id"]), i["item_id"])):
        queues[item["cluster_id"]].append(item)
    clusters = stable_order(queues, run_seed, "sample")
    depth = max((len(queue) for queue in queues.values()), default=0)
    dealt = [
        queues[cluster][turn] for turn in range(depth) for cluster in clusters if turn < len(queues[cluster])
    ]
    return dealt[:SAMPLES]


def samples(tables: Mapping[str, pa.Table], run_seed: int) -> list[Sample]:
    """The sample items of a run with everything the other stages know of them."""
    chosen = choose_samples(tables["curate"].to_pylist(), run_seed)
    ids = {item["item_id"] for item in chosen}
    proverbs = {row["proverb_id"]: row for row in tables["acquire"].to_pylist()}
    scenarios = {row["scenario_id"]: row for row in tables["filter"].to_pylist()}
    fits: dict[str, list[list[int]]] = defaultdict(list)
    judges: dict[str, int] = defaultdict(int)
    for row in tables["judge"].to_pylist():
        if row["item_id"] in ids:
            judges[row["item_id"]] += 1
            if row["status"] == "ok":
                fits[row["item_id"]].append(row["fits"])
    return [
        Sample(
            item,
            _options(item, fits[item["item_id"]]),
            proverbs[item["proverb_id"]]["meaning"],
            proverbs[item["proverb_id"]]["meaning_from"],
            scenarios.get(item["scenario_id"]),
            [(rubric, item[rubric]) for rubric in RUBRICS],
            judges[item["item_id"]],
        )
        for item in chosen
    ]


def _options(item: Mapping[str, Any], fits: Sequence[Sequence[int]]) -> list[Option]:
    return [
        Option(
            _LETTERS[place],
            text,
            item["roles"][place],
            item["similarities"][place],
            item["meaning_similarities"][place],
            fmean(fit[place] for fit in fits) if fits else None,
        )
        for place, text in enumerate(item["options"])
    ]
