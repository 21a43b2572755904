"""Killed at any moment, a run goes on where it was: nothing lost, nothing asked twice, the same bytes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import stats
from tests.llm.asks import echo
from tests.llm.stage_like import SLOTS
from tests.servers.scripted import ScriptedServer

REPO = Path(__file__).resolve().parents[2]
COUNT = 300


@pytest.fixture(autouse=True)
def _slow_echo(server: ScriptedServer) -> None:
    server.responders.append(echo)
    server.delay = 0.03
    server.fail_when("token<7>", "language")
    server.fail_when("token<8>", "cut")


def start(server: ScriptedServer, folder: Path) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.llm.stage_like", server.address, str(folder), str(COUNT)]
    return subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(server: ScriptedServer, folder: Path) -> dict[str, int]:
    process = start(server, folder)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    counts: dict[str, int] = json.loads(out)
    return counts


def wait_for_calls(server: ScriptedServer, calls: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.chats) < calls:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def repeated(server: ScriptedServer) -> int:
    """Calls beyond the first of each distinct request."""
    bodies = Counter(json.dumps(call.body, sort_keys=True) for call in server.chats)
    return sum(bodies.values()) - len(bodies)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.full)])
def test_killed_at_random_moments_the_table_is_the_same_to_the_byte(
    server: ScriptedServer, tmp_path: Path, kills: int
) -> None:
    whole = finish(server, tmp_path / "whole")
    assert whole == {"made": COUNT + 4, "reused": 0}
    server.requests.clear()
    rng = random.Random(kills)
    for moment in sorted(rng.sample(range(10, COUNT - 10), kills)):
        process = start(server, tmp_path / "killed")
        while process.poll() is None and len(server.chats) < moment:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    counts = finish(server, tmp_path / "killed")
    assert counts["made"] + counts["reused"] == COUNT + 4
    tables = [(tmp_path / name / "table.json").read_bytes() for name in ("whole", "killed")]
    assert tables[0] == tables[1]
    assert repeated(server) <= kills * SLOTS
    assert stats(Ledger(tmp_path / "killed" / "ledger.sqlite")).replies == COUNT + 4
    server.requests.clear()
    assert finish(server, tmp_path / "killed") == {"made": 0, "reused": COUNT + 4}
    assert server.chats == []


def test_ctrl_c_writes_what_came_back_and_says_what_is_left(server: ScriptedServer, tmp_path: Path) -> None:
    process = start(server, tmp_path / "stopped")
    wait_for_calls(server, 60)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    made = len(server.chats)
    held = stats(Ledger(tmp_path / "stopped" / "ledger.sqlite")).replies
    assert held == made
    assert f"of {COUNT} answered" in err
    finish(server, tmp_path / "stopped")
    assert repeated(server) == 0


def test_two_processes_on_one_ledger_end_with_one_table(server: ScriptedServer, tmp_path: Path) -> None:
    both = [start(server, tmp_path / "shared") for _ in range(2)]
    codes = [process.communicate(timeout=120) and process.returncode for process in both]
    assert codes == [0, 0]
    assert stats(Ledger(tmp_path / "shared" / "ledger.sqlite")).replies == COUNT + 4
    finish(server, tmp_path / "whole")
    tables = [(tmp_path / name / "table.json").read_bytes() for name in ("whole", "shared")]
    assert tables[0] == tables[1]
