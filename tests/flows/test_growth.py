"""A dataset that grows: its old items stay to the letter, and models are asked about new proverbs only."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from flows.backends import Backends
from flows.cli.main import app
from flows.screen import run_lines
from pipeline.errors import ConfigError, SeedError, StageError
from pipeline.llm.transport import Timing
from pipeline.seeds.table import COLUMNS, csv_text
from pipeline.store.tables import read_table
from tests.flows.small import build, make_root
from tests.flows.typed import Type
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


def test_a_forecast_of_growth_counts_new_proverbs_only(grown: Path, adage: Type) -> None:
    asked = ("--lang", "en", "--profile", "test", "--base", grown / "releases" / "1.0", "--root", grown)
    ended = adage("plan", "capr", *asked, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["pilot"]["proverbs"] == NEW
    # Of each new proverb its label and one scenario, and what the jury says of the items.
    assert told["pilot"]["calls"] == {"made": NEW + NEW + JUDGES * told["pilot"]["items"], "reused": 0}
    counts = {role["role"]: (role["asks"], role["calls"]) for role in told["roles"]}
    assert counts["label"] == (NEW, 0)
    assert counts["name_clusters"] == (0, 0)
    assert counts["scenarios"] == (NEW * DOMAINS, NEW * (DOMAINS - 1))
    stages, _, _ = build(grown, base="releases/1.0")
    assert stages["scenarios"].calls == {"made": NEW * (DOMAINS - 1), "reused": NEW}
    # All are in the dataset now: nothing is left to ask, and nothing is said of scenarios that none wrote.
    run = grown / "artifacts" / "capr" / "en" / "runs" / "test"
    ended = adage("plan", "capr", *asked[:-3], run, "--root", grown)
    assert ended.code == 0, ended.err
    assert "From a pilot of 0 proverbs" in ended.out
    assert "0 calls, 0 s to 0 s of model time" in ended.out
    assert "made no item" not in ended.out


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
    # Whoever added six proverbs and finds none of them must read why.
    assert f"{NEW} of {OLD + NEW} usable proverbs are past the limit and not in this build" in " ".join(
        run_lines(summary)
    )
    _, _, summary = build(grown, base="releases/1.0")
    assert "past the limit" not in " ".join(run_lines(summary))


def test_a_proverb_taken_out_takes_its_items_and_moves_nothing(grown: Path) -> None:
    before = _items(grown / "releases" / "1.0")
    gone = next(iter(before.values()))["proverb_id"]
    _write_seeds(grown, [row for row in _seeds(grown) if row["proverb_id"] != gone])
    stages, _, summary = build(grown, base="releases/1.0")
    after = _items(summary.folder)
    lost = {i for i, row in before.items() if row["proverb_id"] == gone}
    assert stages["cluster"].reasons == {"proverb_removed": 1}
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


def test_new_clusters_too_large_for_memory_are_refused_before_any_call(
    grown: Path, server: ScriptedServer
) -> None:
    before = len(server.chats)
    profile = yaml.safe_load((grown / "profiles" / "test.yaml").read_text(encoding="utf-8"))
    profile["capr"]["cluster"] = {"memory_gib": 1e-6}
    (grown / "profiles" / "test.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    with pytest.raises(StageError, match=r"clustering 30 labels needs about .*capr\.cluster\.memory_gib"):
        build(grown, base="releases/1.0", recluster=True)
    assert len(server.chats) == before


def test_reclustering_first_says_what_changes_and_stops(
    grown: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(server.chats)
    asked = ["build", "capr", "--lang", "en", "--profile", "test", "--base", "1.0", "--recluster"]
    # A folder that is typed is looked for where it is typed.
    monkeypatch.chdir(grown / "releases")
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


def _record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "base.json").read_text(encoding="utf-8"))
    return record


def _in_split(folder: Path, split: str) -> list[str]:
    return [i for i, frozen in _record(folder)["proverbs"].items() if frozen["split"] == split]


@pytest.mark.parametrize("recluster", [False, True])
def test_splits_that_contradict_the_base_are_refused_before_any_call(
    grown: Path, server: ScriptedServer, recluster: bool
) -> None:
    before = len(server.chats)
    trained = _in_split(grown / "releases" / "1.0", "train")[0]
    splits = grown / "seeds" / "en" / "splits.csv"
    splits.write_text(f"proverb_id,split,since\n{trained},test,1.0\n", encoding="utf-8")
    with pytest.raises(SeedError, match=f"{trained} is test there and train in the base"):
        build(grown, base="releases/1.0", recluster=recluster)
    assert len(server.chats) == before


@pytest.mark.parametrize("frozen_by", ["base", "recluster", "splits.csv"])
def test_variants_in_different_splits_are_refused_before_any_call(
    grown: Path, server: ScriptedServer, frozen_by: str
) -> None:
    before = len(server.chats)
    trained, tested = (_in_split(grown / "releases" / "1.0", split)[0] for split in ("train", "test"))
    rows = _seeds(grown)
    # By way of a third, which has no split yet.
    third = rows[0]["proverb_id"]
    links = {trained: third, third: tested}
    _write_seeds(
        grown, [{**row, "variant_of": links.get(row["proverb_id"], row["variant_of"])} for row in rows]
    )
    base: str | None = "releases/1.0"
    if frozen_by == "splits.csv":
        base = None
        (grown / "seeds" / "en" / "splits.csv").write_text(
            f"proverb_id,split,since\n{trained},train,1.0\n{tested},test,1.0\n", encoding="utf-8"
        )
    with pytest.raises(SeedError, match="variants of one proverb stand in different splits"):
        build(grown, base=base, recluster=frozen_by == "recluster")
    assert len(server.chats) == before


def test_a_proverb_that_comes_back_has_its_old_split_and_new_items(grown: Path) -> None:
    tested = _in_split(grown / "releases" / "1.0", "test")
    whole = _seeds(grown)
    _write_seeds(grown, [row for row in whole if row["proverb_id"] not in tested])
    stages, _, summary = build(grown, base="releases/1.0")
    assert stages["cluster"].reasons == {"proverb_removed": len(tested)}
    # Clusters count the proverbs that are there.
    named = stages["name_clusters"].table().to_pylist()
    assert sum(row["proverbs"] for row in named) <= stages["cluster"].kept == OLD + NEW - len(tested)
    shutil.copytree(summary.folder, grown / "releases" / "1.1")
    gone = _record(grown / "releases" / "1.1")["proverbs"]
    assert [gone[i] for i in tested] == [
        {"split": "test", "label": None, "label_key": None, "cluster_id": None}
    ] * len(tested)
    _write_seeds(grown, whole)
    stages, _, summary = build(grown, base="releases/1.1")
    assert {stages["curate"].facts["splits"][i] for i in tested} == {"test"}
    assert stages["label"].expected == len(tested)
    items = _items(summary.folder).values()
    assert {row["split"] for row in items if row["proverb_id"] in tested} == {"test"}
    before = _items(grown / "releases" / "1.1")
    assert {i: _items(summary.folder)[i] for i in before} == before
    # Those that come back stand before new ones, within the limit.
    stages, _, _ = build(grown, base="releases/1.1", limit_proverbs=OLD + NEW - len(tested) + 1)
    assert stages["label"].table()["proverb_id"].to_pylist()[0] in tested


def test_a_proverb_that_a_server_lost_is_asked_about_when_the_run_grows(
    first: Path, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Timing(call=5, first_call=5, patience=5, drain=1, tries_broken=2, tries_timeout=1)
    monkeypatch.setattr(Backends, "timing", staticmethod(lambda spec: quick))
    root = shutil.copytree(first, tmp_path / "root")
    shutil.rmtree(root / "artifacts")
    lost = _seeds(root)[3]
    server.fail_when(lost["text"], "close", times=2)
    stages, _, summary = build(root)
    assert stages["label"].reasons == {"reply_server_error": 1}
    shutil.copytree(summary.folder, root / "releases" / "1.0")
    split = _record(root / "releases" / "1.0")["proverbs"][lost["proverb_id"]]["split"]
    stages, _, summary = build(root, base="releases/1.0")
    assert stages["label"].table()["proverb_id"].to_pylist() == [lost["proverb_id"]]
    assert stages["acquire"].facts["in_base"] == OLD - 1
    items = [row for row in _items(summary.folder).values() if row["proverb_id"] == lost["proverb_id"]]
    assert items
    assert {row["split"] for row in items} == {split}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("version", "1.0.0", r"version in base\.json is '1\.0\.0', must be two numbers such as 1\.0"),
        ("version", 1.0, "not a whole base dataset"),
        ("proverbs", [], "not a whole base dataset"),
        ("proverbs", {"en-1": {"split": "dev"}}, "en-1 in base.json has split 'dev'; allowed: train"),
    ],
)
def test_a_record_that_no_run_writes_is_refused(
    grown: Path, server: ScriptedServer, field: str, value: object, said: str
) -> None:
    before = len(server.chats)
    file = grown / "releases" / "1.0" / "base.json"
    file.write_text(json.dumps({**_record(file.parent), field: value}), encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        build(grown, base="releases/1.0")
    assert len(server.chats) == before


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
