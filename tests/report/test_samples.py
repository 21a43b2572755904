from __future__ import annotations

from collections import Counter
from typing import Any

from pipeline.report.samples import choose_samples


def _items(*sizes: int) -> list[dict[str, Any]]:
    return [
        {"item_id": f"{cluster}-{i}", "cluster_id": cluster}
        for cluster, size in enumerate(sizes)
        for i in range(size)
    ]


def test_thirty_items_are_spread_over_the_clusters() -> None:
    chosen = choose_samples(_items(100, 3, 100, 1), run_seed=0)
    assert Counter(item["cluster_id"] for item in chosen) == {0: 13, 1: 3, 2: 13, 3: 1}
    assert len({item["item_id"] for item in chosen}) == 30


def test_row_order_decides_nothing_and_few_items_are_all_shown() -> None:
    items = _items(40, 40)
    assert choose_samples(items[::-1], run_seed=7) == choose_samples(items, run_seed=7)
    assert choose_samples(items, run_seed=8) != choose_samples(items, run_seed=7)
    assert len(choose_samples(_items(4, 2), run_seed=0)) == 6
    assert choose_samples([], run_seed=0) == []
