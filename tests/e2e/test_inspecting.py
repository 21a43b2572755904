"""The commands that look at seeds and builds, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _adage(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows.cli.main", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(home / "cache")},
        check=False,
    )


def test_look_at_seeds_plan_build_and_items(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", server.address)
    stages, _, _ = build(root)
    asked = len(server.chats)
    here = ("--lang", "en", "--root", str(root))
    told = {}
    item = stages["curate"].table()["item_id"][0].as_py()
    for words in (
        ("seeds", "check", *here, "--profile", "test"),
        ("calibrate", *here, "--profile", "test"),
        ("explain", "capr", *here, "--profile", "test"),
        ("why", item, *here),
    ):
        ended = _adage(tmp_path, *words)
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        as_json = _adage(tmp_path, *words, "--json")
        told[words[0]] = json.loads(as_json.stdout)
    assert told["seeds"]["whole"]["proverbs"] == stages["acquire"].kept
    assert {stage["state"] for stage in told["explain"]["stages"]} == {"hit"}
    assert told["why"]["split"] == stages["curate"].table()["split"][0].as_py()
    assert (
        told["calibrate"]["kinds"]["proverb_proverb"]["in_force"]
        == (stages["distractors"].facts["caps"]["proverb_cap"]["cap"])
    )
    unknown = _adage(tmp_path, "why", "en-nothing", *here)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("adage: no item, scenario or proverb 'en-nothing'")
    assert len(unknown.stderr.strip().splitlines()) == 1
    assert len(server.chats) == asked
