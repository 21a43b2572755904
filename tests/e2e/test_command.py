"""`adage` as a person runs it: a process of its own, a real Prefect server, a scripted model server."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.flows.small import make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _adage(*words: str, home: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PREFECT_HOME": str(home / "prefect"), "XDG_CACHE_HOME": str(home / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "flows.cli.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def _build(root: Path, home: Path) -> subprocess.Popen[str]:
    return _adage("build", "capr", "--lang", "en", "--profile", "test", "--root", str(root), home=home)


def test_build_twice_and_show(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", server.address)
    first = _build(root, tmp_path)
    _, said = first.communicate(timeout=240)
    assert first.returncode == 0, said
    assert "TEST: scripted replies." in said
    assert "DRAFT: 12 of 12 proverbs are not reviewed" in said
    assert "Traceback" not in said
    assert "database is locked" not in said
    made = len(server.chats)
    second = _build(root, tmp_path)
    _, said = second.communicate(timeout=240)
    assert second.returncode == 0, said
    assert "model calls: 0 made, 0 reused" in said
    assert len(server.chats) == made
    names = _task_states(tmp_path / "prefect")
    assert names == {"Completed": 9, "Cached": 9}
    shown = _adage("show", "capr", "--lang", "en", "--json", "--root", str(root), home=tmp_path)
    out, _ = shown.communicate(timeout=60)
    summary = json.loads(out)
    assert set(summary) == {"profile", "stages", "items", "splits", "flagged", "calls"}
    assert summary["stages"][0]["name"] == "acquire"
    assert all(stage["cached"] for stage in summary["stages"])
    assert sum(summary["splits"].values()) == summary["items"] > 0


def test_a_killed_run_repeats_no_completed_call(tmp_path: Path) -> None:
    with ScriptedServer(delay=0.15) as server:
        root = make_root(tmp_path / "root", server.address)
        run = _build(root, tmp_path)
        deadline = time.monotonic() + 120
        while _scenario_calls(server) < 12 and time.monotonic() < deadline:
            time.sleep(0.02)
        [prefect] = [
            child for child in psutil.Process(run.pid).children() if "flows.server" in child.cmdline()
        ]
        run.kill()
        # Its temporary Prefect server, which holds the same pipes, ends by itself.
        run.communicate(timeout=60)
        assert psutil.wait_procs([prefect], timeout=60)[1] == []
        asked = _scenario_calls(server)
        assert asked >= 12
        completed = _replies(root)
        again = _build(root, tmp_path)
        _, said = again.communicate(timeout=240)
        assert again.returncode == 0, said
        assert "an earlier run" in said
        bodies = Counter(json.dumps(request.body, sort_keys=True) for request in server.chats)
        repeated = sum(count - 1 for count in bodies.values())
        # Only what was under way when the process died may be asked again: four slots.
        assert repeated <= 4
        assert len(server.chats) - repeated == _replies(root)
        assert completed >= asked - 4


def test_ctrl_c_keeps_what_came_back_and_says_how_to_go_on(tmp_path: Path) -> None:
    with ScriptedServer(delay=0.15) as server:
        root = make_root(tmp_path / "root", server.address)
        run = _build(root, tmp_path)
        deadline = time.monotonic() + 120
        while _scenario_calls(server) < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        # As a terminal does: to the whole group.
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=120)
        assert run.returncode == 130, said
        assert "left" in said
        assert "run the same command again" in said
        assert "Traceback" not in said
        assert _replies(root) == len(server.chats)


def _scenario_calls(server: ScriptedServer) -> int:
    return sum("short scenarios" in request.body["messages"][0]["content"] for request in server.chats)


def _replies(root: Path) -> int:
    with sqlite3.connect(root / "artifacts" / "ledger.sqlite") as ledger:
        return int(ledger.execute("SELECT count(*) FROM replies").fetchone()[0])


def _task_states(home: Path) -> dict[str, int]:
    with sqlite3.connect(home / "prefect.db") as database:
        return Counter(name for (name,) in database.execute("SELECT state_name FROM task_run"))
