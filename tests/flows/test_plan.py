"""`adage plan`: what it says is what the build then does."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from flows.assembly import BuildRequest
from flows.cli.plan import table
from flows.planning import Plan
from pipeline.errors import CallLimitReached
from pipeline.llm.forecast import Forecast
from tests.flows.small import build, make_root
from tests.flows.typed import Type
from tests.servers.scripted import ScriptedServer

JUDGES = ["judge judge-0", "judge judge-1", "judge judge-2"]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def root(server: ScriptedServer, tmp_path: Path) -> Path:
    """A root for 20 proverbs and 3 domains."""
    return make_root(tmp_path, server.address, acquire={"limit": 20})


def _plan(adage: Type, root: Path, *more: str) -> dict[str, Any]:
    ended = adage("plan", "capr", "--lang", "en", "--profile", "test", "--root", root, "--json", *more)
    assert ended.code == 0, ended.err
    told: dict[str, Any] = json.loads(ended.out)
    return {**told, "of": {role["role"]: role for role in told["roles"]}}


def _repeated(server: ScriptedServer) -> int:
    bodies = Counter(json.dumps(call.body, sort_keys=True) for call in server.chats)
    return sum(bodies.values()) - len(bodies)


def test_what_is_counted_is_what_the_build_asks(root: Path, server: ScriptedServer, adage: Type) -> None:
    told = _plan(adage, root)
    of = told["of"]
    assert list(of) == ["label", "name_clusters", "scenarios", *JUDGES]
    assert 0 < told["pilot"]["items"] <= 12
    calls = {"made": len(server.chats), "reused": 0}
    assert told["pilot"] == {"proverbs": 12, "items": told["pilot"]["items"], "calls": calls}
    assert (of["label"]["asks"], of["label"]["held"], of["label"]["calls"]) == (20, 12, 8)
    assert (of["scenarios"]["asks"], of["scenarios"]["held"], of["scenarios"]["calls"]) == (60, 12, 48)
    assert not of["label"]["estimated"]
    assert not of["scenarios"]["estimated"]
    assert all(of[judge]["estimated"] for judge in JUDGES)
    assert told["total"]["calls"] == sum(role["calls"] for role in told["roles"])
    assert 0 < told["total"]["hours_low"] < told["total"]["hours"] < told["total"]["hours_high"]
    stages, _, _ = build(root)
    made = {name: ref.calls.get("made", 0) for name, ref in stages.items()}
    assert (made["label"], made["scenarios"]) == (8, 48)
    assert made["name_clusters"] <= of["name_clusters"]["calls"]
    judged = sum(of[judge]["calls"] for judge in JUDGES)
    assert judged * 0.8 <= made["judge"] <= judged
    assert _repeated(server) == 0


def test_asked_again_it_makes_no_call(root: Path, server: ScriptedServer, adage: Type) -> None:
    first = _plan(adage, root)
    made = len(server.chats)
    again = _plan(adage, root)
    assert len(server.chats) == made
    assert again["roles"] == first["roles"]
    assert again["pilot"]["calls"]["made"] == 0


def test_a_stage_whose_tables_exist_is_counted_and_a_finished_build_needs_nothing(
    root: Path, server: ScriptedServer, adage: Type
) -> None:
    with pytest.raises(CallLimitReached):
        build(root, max_calls=110)
    told = _plan(adage, root)
    of = told["of"]
    assert not told["total"]["estimated"]
    done = [of[role]["calls"] for role in ("label", "name_clusters", "scenarios")]
    assert done == [0, 0, 0]
    left = sum(of[judge]["calls"] for judge in JUDGES)
    assert of[JUDGES[0]]["held"] > 0
    _, calls, _ = build(root)
    assert calls["made"] == left > 0
    finished = _plan(adage, root)["total"]
    assert (finished["asks"], finished["calls"], finished["hours"]) == (finished["held"], 0, 0.0)


def test_a_changed_label_model_keeps_the_scenarios_in_the_ledger(
    root: Path, server: ScriptedServer, adage: Type
) -> None:
    build(root)
    profile = root / "profiles" / "test.yaml"
    data = yaml.safe_load(profile.read_text(encoding="utf-8"))
    data["roles"]["label"] = data["roles"]["label"] | {"temperature": 0.6}
    profile.write_text(yaml.safe_dump(data), encoding="utf-8")
    of = _plan(adage, root)["of"]
    assert (of["label"]["held"], of["label"]["calls"]) == (12, 8)
    assert (of["scenarios"]["held"], of["scenarios"]["calls"]) == (60, 0)


def test_replies_asked_for_again_count(root: Path, server: ScriptedServer, adage: Type) -> None:
    server.fail_when("short scenarios", "cut", times=6)
    of = _plan(adage, root)["of"]
    assert of["scenarios"]["held"] == 12
    assert of["scenarios"]["calls"] == 72  # 18 calls for 12 asks: half as many again for the 48 left


def test_the_table_and_what_is_not_known(root: Path, adage: Type) -> None:
    shown = adage("plan", "capr", "--lang", "en", "--profile", "test", "--root", root, "--pilot", "20")
    assert shown.code == 0
    assert "From a pilot of 20 proverbs with one scenario each" in shown.out
    assert "~ follows from the pilot" in shown.out
    assert "The pilot made no item" not in shown.out
    assert re.search(r"^label +20 +20 +0 +0 +0 +0\.00-0\.00$", shown.out, re.MULTILINE)
    assert re.search(r"^judge judge-0 +~\d+ +\? +~\d+ ", shown.out, re.MULTILINE)


def test_the_papers_size_fits_eighty_columns() -> None:
    judge = Forecast("judge mistral-small3.2", 13_750, 0, 41_250, 20 * 10**6, 5 * 10**6, 90, 80, 131.5, True)
    plan = Plan(BuildRequest("zh"), 12, 12, {"made": 60, "reused": 0}, (judge,) * 3)
    out = io.StringIO()
    Console(width=80, file=out).print(table(plan))
    shown = out.getvalue().splitlines()
    assert max(map(len, shown)) <= 80
    assert shown[1].split() == [
        *judge.role.split(),
        "~13750",
        "?",
        "~41250",
        "~20.0M",
        "~5.0M",
        "80.00-131.50",
    ]
    assert shown[-1].split() == ["total", "~41250", "?", "~123750", "~60.0M", "~15.0M", "240.00-394.50"]


def test_a_model_that_answers_nothing_is_said(root: Path, server: ScriptedServer, adage: Type) -> None:
    server.fail_when("", "empty")
    ended = adage("plan", "capr", "--lang", "en", "--profile", "test", "--root", root)
    assert ended.code == 5
    assert len(ended.err.strip().splitlines()[-1]) > 40


@pytest.mark.parametrize("asked", [(), ("--limit-proverbs", "8")])
def test_the_pilot_has_no_more_proverbs_than_the_build(
    server: ScriptedServer, tmp_path: Path, adage: Type, asked: tuple[str, ...]
) -> None:
    root = make_root(tmp_path, server.address, acquire={"limit": 20 if asked else 8})
    told = _plan(adage, root, *asked)
    assert told["pilot"]["proverbs"] == 8
    stages, _, _ = build(root, limit_proverbs=8)
    assert all(stages[name].cached for name in ("label", "cluster", "name_clusters"))
    assert stages["scenarios"].calls == {"made": 16, "reused": 8}


def test_a_pilot_without_items_says_that_judges_come_on_top(
    server: ScriptedServer, tmp_path: Path, adage: Type
) -> None:
    root = make_root(tmp_path, server.address, filter={"least_words": 119})
    shown = adage("plan", "capr", "--lang", "en", "--profile", "test", "--root", root)
    assert shown.code == 0
    assert "The pilot made no item" in shown.out
