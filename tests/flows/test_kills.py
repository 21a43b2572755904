"""SIGKILL at random moments of the stage runner: the same final bytes, and no completed call made again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.kills import SLOTS, final_bytes, repeated
from tests.flows.small import make_root
from tests.servers.scripted import ScriptedServer

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(delay=0.03) as running:
        yield running


def _start(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.flows.run_stages", str(root)]
    return subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _finish(root: Path) -> dict[str, int]:
    process = _start(root)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    calls: dict[str, int] = json.loads(out)
    return calls


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=[pytest.mark.full, pytest.mark.timeout(900)])])
def test_killed_at_random_moments_the_tables_are_the_same_to_the_byte(
    server: ScriptedServer, tmp_path: Path, kills: int
) -> None:
    whole, killed = (make_root(tmp_path / name, server.address) for name in ("whole", "killed"))
    proverbs = (whole / "seeds" / "en" / "proverbs.csv").read_text(encoding="utf-8").splitlines()
    server.fail_when(proverbs[2].split(",")[1], "cut")  # asked again with a larger budget, then rejected
    needed = _finish(whole)["made"]
    assert needed == len(server.chats) > 130
    server.requests.clear()
    rng = random.Random(kills)
    struck = 0
    # Most strike in mid-call; the pause after that lets others strike between calls and in mid-write.
    for moment in sorted(rng.sample(range(1, needed), kills)):
        process = _start(killed)
        while process.poll() is None and len(server.chats) < moment:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.2))
        struck += process.poll() is None
        process.kill()
        process.communicate()
    assert struck > kills // 2
    _finish(killed)
    tables = final_bytes(whole)
    assert {"train.parquet", "rejected.parquet", "kept.parquet"} <= {Path(name).name for name in tables}
    assert final_bytes(killed) == tables
    assert repeated(server) <= SLOTS * struck
    assert len(server.chats) <= needed + SLOTS * struck
    server.requests.clear()
    assert _finish(killed) == {"made": 0, "reused": 0}
    assert server.chats == []
