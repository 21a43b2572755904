"""`adage calibrate` prints the very caps that a build's stages decide."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from rich.cells import cell_len
from typer.testing import CliRunner

from flows.cli.help import WIDTH
from flows.cli.main import app
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def _type(root: Path, *words: str) -> str:
    typed = ["calibrate", "--lang", "en", "--profile", "test", "--root", str(root), *words]
    ended = CliRunner().invoke(app, typed, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def _kinds(root: Path) -> dict[str, Any]:
    return dict(json.loads(_type(root, "--json"))["kinds"])


def test_the_caps_are_those_of_the_build_and_no_model_is_asked(built: Path, server: ScriptedServer) -> None:
    stages, _, _ = build(built)
    asked = len(server.chats)
    kinds = _kinds(built)
    assert list(kinds) == ["proverb_proverb", "meaning_meaning", "proverb_scenario"]
    caps = stages["distractors"].facts["caps"]
    scenario = stages["filter"].facts["similarity_cap"]
    for kind, cap in (
        ("proverb_proverb", caps["proverb_cap"]),
        ("meaning_meaning", caps["meaning_cap"]),
        ("proverb_scenario", scenario),
    ):
        told = kinds[kind]
        assert (told["pairs"], told["quantile"], told["calibrated"]) == (
            cap["pairs"],
            cap["quantile"],
            cap["cap"],
        )
        assert told["in_force"] == told["calibrated"]
        assert sum(told["counts"]) == told["pairs"]
    # All seeds count, not the twelve of the limit; every scenario with every proverb but its own.
    n = stages["acquire"].kept
    assert n > 60
    assert kinds["proverb_proverb"]["pairs"] == n * (n - 1) // 2
    assert kinds["proverb_scenario"]["pairs"] == stages["scenarios"].kept * (n - 1)
    assert len(server.chats) == asked


def test_fixed_caps_stay_and_the_calibrated_ones_stand_beside(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "root")
    before = _kinds(root)
    file = root / "profiles" / "test.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["capr"] |= {
        "filter": {"similarity_cap": "fixed"},
        "distractors": {"similarity_cap": "fixed", "meaning_cap": False},
    }
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    kinds = _kinds(root)
    assert [kind["in_force"] for kind in kinds.values()] == [0.85, None, 0.85]
    assert {name: kind["calibrated"] for name, kind in kinds.items()} == {
        name: kind["calibrated"] for name, kind in before.items()
    }


def test_without_a_build_there_are_no_scenarios_and_that_is_said(
    server: ScriptedServer, tmp_path: Path
) -> None:
    root = make_root(tmp_path / "fresh", server.address)
    kinds = _kinds(root)
    assert (kinds["proverb_scenario"]["pairs"], kinds["proverb_scenario"]["calibrated"]) == (0, 0.85)
    shown = _type(root)
    assert "scenarios: none, there is no build yet" in shown
    assert "Below 200 pairs the cap is the paper's 0.85: proverb-scenario." in shown


def test_a_proverb_that_is_gone_takes_its_scenarios_along(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "root")
    before = _kinds(root)
    table = root / "seeds" / "en" / "proverbs.csv"
    header, _, *rest = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text(header + "".join(rest), encoding="utf-8")
    after = _kinds(root)
    n = len(rest)
    assert after["proverb_proverb"]["pairs"] == n * (n - 1) // 2
    # Three scenarios of the first proverb, and the first proverb against the others' 33.
    assert before["proverb_scenario"]["pairs"] == 36 * n
    assert after["proverb_scenario"]["pairs"] == 33 * (n - 1)


def test_what_is_printed_adds_up_and_fits(built: Path) -> None:
    shown = _type(built)
    kinds = _kinds(built)
    assert f"similarity caps over all {json.loads(_type(built, '--json'))['seeds']} seeds" in shown
    for name, kind in kinds.items():
        [line] = [line for line in shown.splitlines() if line.startswith(name.replace("_", "-") + " ")]
        cells = line.split()
        assert cells[1] == str(kind["pairs"])
        assert cells[4] == f"{kind['above_paper_cap'] / kind['pairs']:.1%}"
        assert cells[5] == f"{kind['calibrated']:.4f}"
    blocks = shown.split("\n\n")[2:5]
    for block, kind in zip(blocks, kinds.values(), strict=True):
        bars = block.splitlines()[1:]
        assert len(bars) <= 12
        assert sum(int(bar.split()[3]) for bar in bars) == kind["pairs"]
    assert all(cell_len(line) <= WIDTH for line in shown.splitlines())
