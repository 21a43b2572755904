"""`adage` as a person runs it: a process of its own, a real Prefect server, a scripted model server."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.running import build_words, replies, scenario_calls, start, start_build, wait_until
from tests.flows.kills import SLOTS, final_bytes, repeated
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def test_build_twice_and_show(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", server.address)
    first = start_build(root, tmp_path)
    _, said = first.communicate(timeout=240)
    assert first.returncode == 0, said
    assert "TEST: scripted replies." in said
    assert "DRAFT: 12 of 12 proverbs are not reviewed" in said
    assert "Traceback" not in said
    assert "database is locked" not in said
    made = len(server.chats)
    second = start_build(root, tmp_path)
    _, said = second.communicate(timeout=240)
    assert second.returncode == 0, said
    assert "model calls: 0 made, 0 reused" in said
    assert len(server.chats) == made
    names = _task_states(tmp_path / "prefect")
    assert names == {"Completed": 9, "Cached": 9}
    shown = start("show", "capr", "--lang", "en", "--json", "--root", str(root), home=tmp_path)
    out, _ = shown.communicate(timeout=60)
    summary = json.loads(out)
    assert set(summary) == {"profile", "stages", "items", "splits", "flagged", "calls"}
    assert summary["stages"][0]["name"] == "acquire"
    assert all(stage["cached"] for stage in summary["stages"])
    assert sum(summary["splits"].values()) == summary["items"] > 0


def test_a_killed_run_repeats_no_completed_call(tmp_path: Path) -> None:
    with ScriptedServer(delay=0.15) as server:
        root = make_root(tmp_path / "root", server.address)
        _kill_when(start_build(root, tmp_path), lambda: scenario_calls(server) >= 12)
        asked, completed = len(server.chats), replies(root)
        again = start_build(root, tmp_path)
        _, said = again.communicate(timeout=240)
        assert again.returncode == 0, said
        assert "an earlier run" in said
        # Only what was under way when the process died may be asked again.
        assert repeated(server) <= SLOTS
        assert len(server.chats) - repeated(server) == replies(root)
        assert completed >= asked - SLOTS
        assert _flow_states(tmp_path / "prefect") == {"Crashed": 1, "Completed": 1}
        # Five tasks of the first run, the last in mid-work; nine of the second, four of them reused.
        states = {"Completed": 4 + 5, "Crashed": 1, "Cached": 4}
        assert _task_states(tmp_path / "prefect") == states


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_twice_a_whole_flow_ends_with_the_same_bytes(tmp_path: Path) -> None:
    with ScriptedServer(delay=0.05) as server:
        whole, killed = (make_root(tmp_path / name, server.address) for name in ("whole", "killed"))
        _, calls, _ = build(whole)
        server.requests.clear()
        rng = random.Random(2)
        for moment in sorted(rng.sample(range(10, calls["made"] - 10), 2)):
            _kill_when(
                start_build(killed, tmp_path),
                lambda moment=moment: len(server.chats) >= moment,  # type: ignore[misc]
            )
        last = start_build(killed, tmp_path)
        _, said = last.communicate(timeout=240)
        assert last.returncode == 0, said
        assert final_bytes(killed) == final_bytes(whole)
        assert repeated(server) <= 2 * SLOTS
        assert len(server.chats) <= calls["made"] + 2 * SLOTS
        assert _flow_states(tmp_path / "prefect") == {"Crashed": 2, "Completed": 1}


def _ctrl_c(run: subprocess.Popen[str]) -> None:
    # As a terminal does: to the whole group.
    os.killpg(run.pid, signal.SIGINT)


def _asked_to_end(run: subprocess.Popen[str]) -> None:
    # As systemd, a container's stop and a cancelled Prefect run do: to the process.
    run.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("ending", [_ctrl_c, _asked_to_end])
def test_ctrl_c_keeps_what_came_back_and_says_how_to_go_on(
    tmp_path: Path, ending: Callable[[subprocess.Popen[str]], None]
) -> None:
    with ScriptedServer(delay=0.15) as server:
        root = make_root(tmp_path / "root", server.address)
        run = start_build(root, tmp_path)
        wait_until(lambda: scenario_calls(server) >= 8)
        ending(run)
        _, said = run.communicate(timeout=120)
        assert run.returncode == 130, said
        assert "Traceback" not in said
        assert replies(root) == len(server.chats)
        last = said.strip().splitlines()[-1]
        assert re.match(
            r"adage: stopped by the user: m: \d+ of 36 answered, \d+ left\. All replies that", last
        )
        assert last.endswith(
            f"run the same command again to go on from here: adage {shlex.join(build_words(root))}"
        )
        again = start_build(root, tmp_path)
        _, said = again.communicate(timeout=240)
        assert again.returncode == 0, said
        assert repeated(server) == 0


def test_a_limit_of_calls_stops_and_no_api_key_is_left_anywhere(tmp_path: Path) -> None:
    key = "sk-2f9c-nobody-may-read-this"
    with ScriptedServer(keys=[key]) as server:
        root = make_root(tmp_path / "root", server.address, protocol="openai")
        profile = root / "profiles" / "test.yaml"
        profile.write_text(
            profile.read_text(encoding="utf-8").replace(
                "    model: scripted", "    api_key_variable: OUR_KEY\n    model: scripted"
            ),
            encoding="utf-8",
        )
        # An error answer that quotes the key, as proxies do.
        server.fail_next("quote_key")
        ended = []
        for limit in ("30", "60", "1000"):
            run = start_build(root, tmp_path, "--max-calls", limit, OUR_KEY=key)
            out, said = run.communicate(timeout=240)
            ended.append((run.returncode, out, said))
        assert [code for code, _, _ in ended] == [6, 6, 0], ended
        last = ended[0][2].strip().splitlines()[-1]
        assert "adage: --max-calls 30 reached: m: " in last
        assert last.endswith(f"to go on from here: adage {shlex.join(build_words(root))} --max-calls 30")
        assert repeated(server) == 1  # the call that met the error
        assert len(server.chats) == replies(root) + 1
        export = start("ledger", "export", str(tmp_path / "all.jsonl"), "--root", str(root), home=tmp_path)
        assert export.wait(60) == 0
        assert _replies_exported(tmp_path / "all.jsonl") == replies(root)
        for _, out, said in ended:
            assert key not in out + said
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert {"manifest.json", "ledger.sqlite", "prefect.db", "all.jsonl"} <= {file.name for file in files}
        assert [str(file) for file in files if key.encode() in file.read_bytes()] == []
        assert b"***" in (root / "artifacts" / "ledger.sqlite").read_bytes()


@pytest.mark.full
def test_a_prefect_server_that_goes_away_is_one_paragraph(tmp_path: Path) -> None:
    with ScriptedServer(delay=0.15) as server:
        root = make_root(tmp_path / "root", server.address)
        run = start_build(root, tmp_path, PREFECT_CLIENT_MAX_RETRIES="0")
        wait_until(lambda: len(server.chats) >= 20)
        [prefect] = [c for c in psutil.Process(run.pid).children() if "flows.server" in c.cmdline()]
        prefect.kill()
        _, said = run.communicate(timeout=240)
        assert run.returncode == 3, said
        assert "\nadage: Prefect's server no longer answers" in said
        assert "Traceback" not in said
        again = start_build(root, tmp_path)
        _, said = again.communicate(timeout=240)
        assert again.returncode == 0, said
        assert repeated(server) <= 4  # what was under way when the build ended


def _kill_when(run: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    wait_until(reached)
    [prefect] = [child for child in psutil.Process(run.pid).children() if "flows.server" in child.cmdline()]
    run.kill()
    # Its temporary Prefect server, which holds the same pipes, ends by itself.
    run.communicate(timeout=60)
    assert psutil.wait_procs([prefect], timeout=60)[1] == []


def _replies_exported(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def _flow_states(home: Path) -> dict[str, int]:
    with sqlite3.connect(home / "prefect.db") as database:
        return Counter(name for (name,) in database.execute("SELECT state_name FROM flow_run"))


def _task_states(home: Path) -> dict[str, int]:
    with sqlite3.connect(home / "prefect.db") as database:
        return Counter(name for (name,) in database.execute("SELECT state_name FROM task_run"))
