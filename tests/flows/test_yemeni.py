"""The three Yemeni files, from import to dataset, on the scripted server: nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from flows.cli.help import WIDTH
from flows.cli.main import app
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def _adage(*words: str) -> str:
    ended = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


@pytest.mark.realdata
def test_every_row_is_a_proverb_or_a_named_rejection_and_items_come_of_them(
    realdata: Path, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address)
        files = [
            str(realdata / "ar_yemeni_proverbs" / f"{n}_data.csv") for n in ("Train", "Validation", "Test")
        ]
        mapping = ("--map", "text=Proverbs", "--map", "meaning=Explanation")
        told = json.loads(
            _adage("seeds", "import", *files, "--lang", "ar", *mapping, "--root", str(root), "--json")
        )
        assert told["added"] + len(told["rejected"]) == 533
        assert all(row["reason"] and len(row["places"]) > 1 for row in told["rejected"])
        stages, _, summary = build(root, lang="ar", limit_proverbs=24)
        assert (stages["acquire"].kept, stages["acquire"].rejected) == (525, 0)
        assert all(ref.expected == ref.kept + ref.rejected for ref in stages.values())
        assert summary.as_json["items"] > 0
        item = stages["curate"].table().to_pylist()[0]
        shown = _adage("why", item["item_id"], "--lang", "ar", "--root", str(root))
    assert f"\u2068{item['options'][item['answer']]}\u2069" in shown
    assert all(cell_len(line) <= WIDTH for line in shown.splitlines())
