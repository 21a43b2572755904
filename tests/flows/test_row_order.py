"""The order of rows in proverbs.csv decides nothing, where no limit takes the first so many."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def _dataset(root: Path) -> list[dict[str, Any]]:
    stages, _, _ = build(root)
    rows: list[dict[str, Any]] = stages["curate"].table().to_pylist()
    return sorted(rows, key=lambda row: str(row["item_id"]))


def test_seeds_in_another_order_make_the_same_dataset(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address, acquire={"limit": None}, scenarios={"domains": 2})
        file = root / "seeds" / "en" / "proverbs.csv"
        with file.open(encoding="utf-8", newline="") as stream:
            head, *rows = csv.reader(stream)
        rows = rows[:16]
        datasets = []
        for ordered in (rows, rows[::-1], rows[5:] + rows[:5]):
            with file.open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([head, *ordered])
            before = len(server.chats)
            datasets.append(_dataset(root))
        # The same questions about the same rows: the last builds called for nothing.
        assert len(server.chats) == before
        assert datasets[0]
        assert datasets[1] == datasets[2] == datasets[0]
