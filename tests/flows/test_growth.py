"""A dataset that grows: its old items stay to the letter, and models are asked about new proverbs only."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from flows.cli.main import app
from flows.screen import run_lines
from pipeline.errors import ConfigError, StageError
from pipeline.seeds.table import COLUMNS, csv_text
from pipeline.store.tables import read_table
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer

OLD, NEW = 24, 6
DOMAINS = 2
JUDGES = 3
SHORT = {"script_grammar": True, "least_characters": 90, "most_characters": 160}


def _seeds(root: Path) -> list[dict[str, str]]:
    with (root / "seeds" / "en" / "proverbs.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _write_seeds(root: Path, rows: list[dict[str, str]]) -> None:
    (root / "seeds" / "en" / "proverbs.csv").write_text(csv_text(COLUMNS, rows), encoding="utf-8")


@pytest.fixture(scope="module")
def first(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a finished run of 24 proverbs, all there are."""
    root = make_root(
        tmp_path_factory.mktemp("root"),
        server.address,
        acquire={"limit": None},
        scenarios={**SHORT, "domains": DOMAINS},
    )
    _write_seeds(root, _seeds(root)[:OLD])
    build(root)
    return root


@pytest.fixture
def grown(first: Path, project: Path, tmp_path: Path) -> Path:
    """That root with six more proverbs, the first of them above the old ones, and the run kept as a base.

    Its ledger, stages and vectors are gone: only the base can say what was asked before.
    """
    root = shutil.copytree(first, tmp_path / "root")
    shutil.copytree(root / "artifacts" / "capr" / "en" / "runs" / "test", root / "releases" / "1.0")
    shutil.rmtree(root / "artifacts")
    old = _seeds(root)
    with (project / "seeds" / "en" / "proverbs.csv").open(encoding="utf-8", newline="") as stream:
        fresh = list(csv.DictReader(stream))[OLD : OLD + NEW]
    _write_seeds(root, [fresh[0], *old, *fresh[1:]])
    return root


def _items(folder: Path) -> dict[str, dict[str, Any]]:
    tables = [read_table(folder / "dataset" / f"{s}.parquet") for s in ("train", "validation", "test")]
    rows = pa.concat_tables([t.replace_schema_metadata(None) for t in tables]).to_pylist()
    return {row["item_id"]: row for row in rows}


def _old_ids(root: Path) -> set[str]:
    return {row["proverb_id"] for row in _seeds(root)[1 : OLD + 1]}


def test_growing_keeps_old_items_and_asks_about_new_proverbs_only(grown: Path) -> None:
    stages, calls, summary = build(grown, base="releases/1.0")
    before, after = _items(grown / "releases" / "1.0"), _items(summary.folder)
    assert {i: after[i] for i in before} == before
    new = [after[i] for i in after if i not in before]
    assert new
    assert {row["proverb_id"] for row in new} <= {r["proverb_id"] for r in _seeds(grown)} - _old_ids(grown)
    assert stages["label"].expected == NEW
    assert stages["name_clusters"].kept + stages["name_clusters"].rejected == stages["cluster"].facts["k"]
    assert calls == {"made": NEW + NEW * DOMAINS + JUDGES * stages["distractors"].kept, "reused": 0}
    assert stages["curate"].expected == len(before) + stages["distractors"].kept
    assert (summary.manifest["version"], summary.manifest["base"]["version"]) == ("1.1", "1.0")
    assert all(ref.expected == ref.kept + ref.rejected for ref in stages.values())


def test_a_run_can_grow_the_run_it_replaces_and_its_base_is_kept(grown: Path) -> None:
    run = grown / "artifacts" / "capr" / "en" / "runs" / "test"
    shutil.copytree(grown / "releases" / "1.0", run)
    before = _items(run)
    build(grown, base=str(run))
    _, calls, again = build(grown, base=str(run))
    assert calls["made"] == 0
    assert again.manifest["version"] == again.manifest["base"]["version"] == "1.1"
    assert {i: _items(again.folder)[i] for i in before} == before
    copies = list((grown / "artifacts" / "capr" / "en" / "bases").iterdir())
    assert len(copies) == 2
    assert before in [_items(copy) for copy in copies]
    stages, calls, _ = build(grown, base=str(run))
    assert calls["made"] == 0
    assert all(ref.cached for ref in stages.values())


def test_a_limit_bounds_new_proverbs_never_old_ones(grown: Path) -> None:
    stages, _, _ = build(grown, base="releases/1.0", limit_proverbs=OLD + 2)
    assert stages["label"].expected == 2
    stages, calls, summary = build(grown, base="releases/1.0", limit_proverbs=4)
    assert stages["label"].expected == 0
    assert calls["made"] == 0
    assert _items(summary.folder) == _items(grown / "releases" / "1.0")
    assert summary.manifest["version"] == "1.0"


def test_a_proverb_taken_out_takes_its_items_and_moves_nothing(grown: Path) -> None:
    before = _items(grown / "releases" / "1.0")
    gone = next(iter(before.values()))["proverb_id"]
    _write_seeds(grown, [row for row in _seeds(grown) if row["proverb_id"] != gone])
    stages, _, summary = build(grown, base="releases/1.0")
    after = _items(summary.folder)
    lost = {i for i, row in before.items() if row["proverb_id"] == gone}
    assert stages["curate"].reasons == {"proverb_removed": len(lost)}
    assert {i: after[i] for i in before if i not in lost} == {
        i: row for i, row in before.items() if i not in lost
    }
    assert all(gone not in row["option_ids"] for i, row in after.items() if i not in before)


def test_dropping_flagged_items_drops_the_bases_too(grown: Path) -> None:
    before = _items(grown / "releases" / "1.0")
    flagged = {i for i, row in before.items() if row["flag_paper"]}
    assert flagged
    stages, _, summary = build(grown, base="releases/1.0", drop_flagged=True, limit_proverbs=OLD)
    assert stages["curate"].reasons == {"flagged_in_base": len(flagged)}
    assert set(_items(summary.folder)) == set(before) - flagged
    assert "possible" not in " ".join(run_lines(summary))  # nothing new was to be made


def test_new_clusters_make_a_major_version_with_the_old_splits(grown: Path) -> None:
    before = _items(grown / "releases" / "1.0")
    _, _, summary = build(grown, base="releases/1.0", recluster=True)
    after = _items(summary.folder)
    assert (summary.manifest["version"], summary.manifest["base"]["reclustered"]) == ("2.0", True)
    split_of = {row["proverb_id"]: row["split"] for row in before.values()}
    assert {row["proverb_id"]: row["split"] for row in after.values() if row["proverb_id"] in split_of} == {
        p: s for p, s in split_of.items() if p in {row["proverb_id"] for row in after.values()}
    }


def test_reclustering_first_says_what_changes_and_stops(grown: Path, server: ScriptedServer) -> None:
    before = len(server.chats)
    asked = ["build", "capr", "--lang", "en", "--profile", "test", "--base", "releases/1.0", "--recluster"]
    told = CliRunner().invoke(app, [*asked, "--root", str(grown)])
    assert told.exit_code == 0
    # Theme labels only: they decide the clusters.
    assert len(server.chats) - before == OLD + NEW
    items = _items(grown / "releases" / "1.0")
    found = re.search(
        r"of (\d+) items (\d+) keep their options, (\d+) get others, (\d+) go. At least (\d+) judge",
        told.output,
    )
    assert found
    total, kept, changed, gone, judged = map(int, found.groups())
    assert total == kept + changed + gone == len(items)
    assert judged == JUDGES * changed
    assert "type the same command with --yes" in told.output
    _, _, summary = build(grown, base="releases/1.0", recluster=True)
    after = {row["scenario_id"]: row for row in _items(summary.folder).values()}
    same = [i for i in items.values() if set(after[i["scenario_id"]]["option_ids"]) == set(i["option_ids"])]
    assert len(same) == kept


def test_splits_that_contradict_the_base_are_refused(grown: Path) -> None:
    row = next(r for r in _items(grown / "releases" / "1.0").values() if r["split"] == "train")
    (grown / "seeds" / "en" / "splits.csv").write_text(
        f"proverb_id,split,since\n{row['proverb_id']},test,1.0\n", encoding="utf-8"
    )
    with pytest.raises(StageError, match=f"{row['proverb_id']} is test there and train in the base"):
        build(grown, base="releases/1.0")


def test_what_is_no_base_is_named_before_any_call(grown: Path, server: ScriptedServer) -> None:
    base = grown / "releases" / "1.0"
    before = len(server.chats)
    with pytest.raises(ConfigError, match=r"has no base\.json"):
        build(grown, base="seeds")
    with pytest.raises(ConfigError, match="name it with --base DIR"):
        build(grown, recluster=True)
    profile = yaml.safe_load((grown / "profiles" / "test.yaml").read_text(encoding="utf-8"))
    profile["embedder"]["model"] = "judge-a"
    (grown / "profiles" / "other.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    with pytest.raises(ConfigError, match="caps and clusters do not carry over"):
        build(grown, base="releases/1.0", profile="other")
    file = base / "dataset" / "train.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ConfigError, match=r"train\.parquet is not the file that base\.json names"):
        build(grown, base="releases/1.0")
    record = (base / "base.json").read_text(encoding="utf-8")
    (base / "base.json").write_text(record.replace('"lang": "en"', '"lang": "ja"'), encoding="utf-8")
    shutil.copyfile(
        next((grown / "artifacts" / "capr" / "en" / "bases").glob("*/dataset/train.parquet")), file
    )
    with pytest.raises(ConfigError, match="a base dataset of 'ja', but --lang is 'en'"):
        build(grown, base="releases/1.0")
    assert len(server.chats) == before
