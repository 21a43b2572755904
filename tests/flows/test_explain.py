"""What `adage explain` foretells, and that the build then does it."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.cells import cell_len
from typer.testing import CliRunner

from flows.cli.help import WIDTH
from flows.cli.main import app
from pipeline.capr.graph import STAGES
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def _type(root: Path, *words: str) -> str:
    typed = ["explain", "capr", "--lang", "en", "--profile", "test", "--root", str(root), *words]
    ended = CliRunner().invoke(app, typed, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def _explain(root: Path, *words: str) -> dict[str, dict[str, Any]]:
    told = json.loads(_type(root, *words, "--json"))
    assert told["calls"]["least"] == sum(stage["calls"]["least"] for stage in told["stages"])
    return {stage["stage"]: stage for stage in told["stages"]}


def _states(stages: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: stage["state"] for name, stage in stages.items()}


def _calls(stage: dict[str, Any]) -> tuple[int, int]:
    return stage["calls"]["least"], stage["calls"]["most"]


def _profile(root: Path, **changed: Any) -> None:
    file = root / "profiles" / "test.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump({**data, **changed}), encoding="utf-8")


def _files(root: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_a_finished_build_is_all_hits_and_nobody_is_asked(copy: Path, server: ScriptedServer) -> None:
    before, asked = _files(copy), len(server.chats)
    stages = _explain(copy)
    assert list(stages) == list(STAGES)
    assert set(_states(stages).values()) == {"hit"}
    assert all(stage["changes"] == [] and _calls(stage) == (0, 0) for stage in stages.values())
    assert _files(copy) == before
    assert len(server.chats) == asked


def test_before_any_build_calls_are_counted_and_nothing_is_made(
    server: ScriptedServer, tmp_path: Path
) -> None:
    root = make_root(tmp_path / "fresh", server.address)
    before, requests = _files(root), len(server.chats)
    stages = _explain(root)
    assert set(_states(stages).values()) == {"miss"}
    # 12 proverbs, 3 domains, 3 judges, 3 attempts; at most one cluster a proverb.
    assert _calls(stages["label"]) == (12, 36)
    assert _calls(stages["name_clusters"]) == (0, 36)
    assert _calls(stages["scenarios"]) == (0, 108)
    assert _calls(stages["judge"]) == (0, 324)
    assert "rows of label that are not known yet" in stages["cluster"]["note"]
    assert _files(root) == before
    assert len(server.chats) == requests
    assert "compared with nothing: this profile has no finished run" in _type(root)


def test_a_fourth_domain_costs_twelve_scenarios_and_the_build_makes_as_many(copy: Path) -> None:
    stages = _explain(copy, "--limit-domains", "4")
    assert _states(stages) == {
        **dict.fromkeys(["acquire", "label", "cluster", "name_clusters"], "hit"),
        "scenarios": "miss",
        **dict.fromkeys(["filter", "distractors", "judge", "curate"], "unknown"),
    }
    assert stages["scenarios"]["changes"] == [{"component": "params.domains", "old": 3, "new": 4}]
    assert _calls(stages["scenarios"]) == (12, 36)
    refs, _, _ = build(copy, limit_domains=4)
    assert refs["scenarios"].calls["made"] == 12
    # The next look: everything is known again, the run's key is compared with itself.
    assert set(_states(_explain(copy, "--limit-domains", "4")).values()) == {"hit"}
    # And the three domains of before are hits that differ from the last run.
    back = _explain(copy)
    assert set(_states(back).values()) == {"hit"}
    assert back["scenarios"]["changes"] == [{"component": "params.domains", "old": 4, "new": 3}]


def test_an_edited_prompt_asks_all_judges_again_and_only_curate_is_open(copy: Path, project: Path) -> None:
    own = copy / "prompts" / "capr" / "judge.md"
    own.parent.mkdir(parents=True)
    text = (project / "prompts" / "capr" / "judge.md").read_text(encoding="utf-8")
    own.write_text(text.replace("## user", "Take care.\n## user", 1), encoding="utf-8")
    stages = _explain(copy)
    assert [name for name, state in _states(stages).items() if state != "hit"] == ["judge", "curate"]
    assert [change["component"] for change in stages["judge"]["changes"]] == ["prompt"]
    assert stages["curate"]["state"] == "unknown"
    refs, calls, _ = build(copy)
    assert stages["judge"]["calls"]["least"] == refs["judge"].expected == calls["made"]


def test_an_edited_label_prompt_needs_no_scenario_again(copy: Path, project: Path) -> None:
    own = copy / "prompts" / "capr" / "label.md"
    own.parent.mkdir(parents=True)
    text = (project / "prompts" / "capr" / "label.md").read_text(encoding="utf-8")
    own.write_text(text.replace("## user", "Take care.\n## user", 1), encoding="utf-8")
    stages = _explain(copy)
    assert _calls(stages["label"]) == (12, 36)
    # Labels are in no scenario's prompt, and all 36 replies are in the ledger.
    assert (stages["scenarios"]["state"], _calls(stages["scenarios"])) == ("unknown", (0, 0))


def test_one_corrected_meaning_is_four_calls_and_what_they_lead_to(copy: Path) -> None:
    table = copy / "seeds" / "en" / "proverbs.csv"
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    rows[3]["meaning"] += " Always."
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    stages = _explain(copy)
    # No call makes acquire, so what reads it is known: one label, three scenarios at most three times each.
    assert [c["component"] for c in stages["acquire"]["changes"]] == ["seeds"]
    assert [c["component"] for c in stages["label"]["changes"]] == ["inputs.proverbs"]
    assert _calls(stages["acquire"]) == (0, 0)
    assert _calls(stages["label"]) == (1, 3)
    assert (stages["scenarios"]["state"], _calls(stages["scenarios"])) == ("miss", (0, 9))


def test_a_model_that_is_sampled_otherwise_is_named_by_its_option(copy: Path) -> None:
    role = {"model": "m", "temperature": 0.7, "max_tokens": 400}
    judges = [{"name": f"judge-{i}", **role, "stance": f"stance {i}"} for i in range(3)]
    judges[1]["temperature"] = 0.2
    judges[2]["stance"] = "kind"
    _profile(copy, roles={**dict.fromkeys(["label", "scenarios", "name_clusters"], role), "judges": judges})
    stages = _explain(copy)
    assert stages["judge"]["changes"] == [
        {"component": "judges.judge-1.model.temperature", "old": 0.7, "new": 0.2},
        {"component": "judges.judge-2.stance", "old": "stance 2", "new": "kind"},
    ]
    assert set(_states(stages).values()) == {"hit", "miss", "unknown"}
    assert "judges.judge-1.model.temperature: 0.7 -> 0.2" in _type(copy)


def test_dropping_flagged_items_takes_no_call_and_everything_stays_known(copy: Path) -> None:
    stages = _explain(copy, "--drop-flagged")
    assert [name for name, state in _states(stages).items() if state != "hit"] == ["curate"]
    assert _calls(stages["curate"]) == (0, 0)
    assert "model calls of a build: no calls" in _type(copy, "--drop-flagged")


@pytest.mark.parametrize(("damage", "note"), [("cut", "its files are damaged"), ("gone", "not built under")])
def test_a_damaged_stage_says_so_and_is_worked_out_from_the_ledger(
    copy: Path, damage: str, note: str
) -> None:
    [manifest] = (copy / "artifacts" / "capr" / "en" / "stages" / "label").glob("*/manifest.json")
    if damage == "cut":
        (manifest.parent / "kept.parquet").write_bytes(b"PAR1")
    else:
        shutil.rmtree(manifest.parent)
    stages = _explain(copy)
    assert _states(stages) == {**dict.fromkeys(STAGES, "hit"), "label": "miss"}
    assert note in stages["label"]["note"]
    assert stages["label"]["changes"] == []
    assert _calls(stages["label"]) == (0, 0)


def test_what_is_not_embedded_is_not_embedded(copy: Path, server: ScriptedServer) -> None:
    [manifest] = (copy / "artifacts" / "capr" / "en" / "stages" / "cluster").glob("*/manifest.json")
    shutil.rmtree(manifest.parent)
    (copy / "artifacts" / "vectors.sqlite").unlink()
    asked = len(server.requests)
    stages = _explain(copy)
    assert "texts that are not embedded yet" in stages["cluster"]["note"]
    assert stages["distractors"]["state"] == "unknown"
    assert not (copy / "artifacts" / "vectors.sqlite").exists()
    embedded = [r for r in server.requests[asked:] if "embed" in r.path]
    assert embedded == []


def test_a_build_that_would_stop_says_where(copy: Path) -> None:
    stages = _explain(copy, "--limit-proverbs", "5")
    assert stages["acquire"]["stops"]
    assert "stops the build: too few proverbs: " in stages["acquire"]["note"]
    assert {stage["note"] for stage in list(stages.values())[1:]} == {"not reached: acquire stops the build"}


def test_every_line_fits_and_says_what_it_compares_with(copy: Path) -> None:
    shown = _type(copy, "--limit-domains", "4")
    assert shown.startswith(
        "CAPR English (en), profile test: what a build would do now\ncompared with the run"
    )
    assert "scenarios      miss     12 to 36 calls\n    params.domains: 3 -> 4\n" in shown
    assert "model calls of a build: 12 to " in shown
    assert all(cell_len(line) <= WIDTH for line in shown.splitlines())
