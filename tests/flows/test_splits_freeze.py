"""`adage splits freeze`: frozen proverbs stay in their split, whatever comes or goes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from pipeline.errors import ConfigError, SeedError
from pipeline.seeds.freezing import freeze_splits
from pipeline.seeds.table import COLUMNS, csv_text, read_splits
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer

FREEZE = ["splits", "freeze", "capr", "--lang", "en", "--root"]


def _row(identity: str, split: str, since: str = "1.0") -> dict[str, str]:
    return {"proverb_id": identity, "split": split, "since": since}


def test_new_proverbs_are_added_and_old_rows_stay_to_the_letter() -> None:
    frozen = [_row("b", "test"), _row("gone", "train"), _row("a", "train")]
    assigned = {"d": "validation", "a": "train", "c": "train", "b": "test"}
    assert freeze_splits(frozen, assigned, "1.1") == [
        *frozen,
        _row("c", "train", "1.1"),
        _row("d", "validation", "1.1"),
    ]
    with pytest.raises(SeedError, match="b is frozen in test, but the run has it in train"):
        freeze_splits(frozen, {"b": "train"}, "1.1")


def test_freezing_a_run_and_growing_after_it(tmp_path: Path) -> None:
    run = CliRunner()
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address, acquire={"limit": None}, scenarios={"domains": 1})
        table = root / "seeds" / "en" / "proverbs.csv"
        with table.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        table.write_text(csv_text(COLUMNS, rows[:40]), encoding="utf-8")
        build(root, limit_proverbs=12)
        limited = run.invoke(app, [*FREEZE, str(root)])
        assert isinstance(limited.exception, ConfigError)
        assert "limited to 12 proverbs" in str(limited.exception)
        assert not (root / "seeds" / "en" / "splits.csv").exists()
        stages, _, _ = build(root)
        before = stages["curate"].facts["splits"]
        done = run.invoke(app, [*FREEZE, str(root)])
        assert done.exit_code == 0
        assert "40 proverbs frozen, 40 in all (train 28, validation 6, test 6)" in done.output
        frozen = read_splits(root / "seeds" / "en" / "splits.csv")
        assert {row["proverb_id"]: row["split"] for row in frozen} == before
        assert {row["since"] for row in frozen} == {"1.0"}
        # Three go, fifteen come, and the file is in another order.
        table.write_text(csv_text(COLUMNS, [*rows[40:55], *reversed(rows[3:40])]), encoding="utf-8")
        stages, _, _ = build(root)
    after = stages["curate"].facts["splits"]
    stayed = {row["proverb_id"] for row in rows[3:40]}
    assert {i: after[i] for i in stayed} == {i: before[i] for i in stayed}
    assert len(after) == 52
