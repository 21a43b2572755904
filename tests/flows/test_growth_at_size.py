"""The growth promise at size: 840 Chinese idioms, of which 40 came after the base dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from pipeline.seeds.table import read_seeds
from pipeline.store.tables import read_table
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer

pytestmark = pytest.mark.realdata

OLD, NEW, JUDGES = 800, 40, 3


def _dataset(folder: Path) -> list[str]:
    """Each item as one text, so that any changed letter shows."""
    parts = [read_table(folder / "dataset" / f"{s}.parquet") for s in ("train", "validation", "test")]
    rows = pa.concat_tables([part.replace_schema_metadata(None) for part in parts]).to_pylist()
    return [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows]


def test_forty_more_idioms_change_no_old_item(realdata: Path, tmp_path: Path) -> None:
    idioms = json.loads((realdata / "zh_chengyu" / "chengyu.json").read_text(encoding="utf-8"))
    # Spread over the file: its neighbours share first letters.
    spread = idioms[:: len(idioms) // (OLD + NEW)]
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address, acquire={"limit": None}, scenarios={"domains": 1})

        def import_up_to(count: int) -> None:
            sheet = tmp_path / f"first-{count}.json"
            sheet.write_text(json.dumps(spread[:count], ensure_ascii=False), encoding="utf-8")
            columns = ["--map", "text=word", "--map", "meaning=explanation"]
            done = CliRunner().invoke(
                app, ["seeds", "import", str(sheet), "--lang", "zh", *columns, "--root", str(root)]
            )
            assert done.exit_code == 0, done.output

        import_up_to(OLD)
        first, _, before = build(root, lang="zh")
        old_items = _dataset(before.folder)
        old_ids = {row["proverb_id"] for row in read_seeds(root / "seeds" / "zh" / "proverbs.csv", "zh")}
        import_up_to(OLD + NEW)
        asked_before = len(server.chats)
        stages, calls, after = build(root, lang="zh", base=str(before.folder))
        asked = len(server.chats) - asked_before
    assert len(old_items) > OLD // 2
    new_items = _dataset(after.folder)
    assert set(old_items) <= set(new_items)
    grown = [json.loads(text) for text in set(new_items) - set(old_items)]
    assert len(grown) > NEW // 2
    assert not {item["proverb_id"] for item in grown} & old_ids
    fresh = stages["label"].expected
    assert fresh == stages["acquire"].facts["selected"] - first["acquire"].facts["selected"] > NEW // 2
    assert calls["made"] == asked == fresh + fresh + JUDGES * stages["distractors"].kept
    assert calls["reused"] == 0
    assert (before.manifest["version"], after.manifest["version"]) == ("1.0", "1.1")
