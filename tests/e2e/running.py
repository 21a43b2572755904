"""`adage` as a process of its own, with a home of its own, for tests that stop it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.servers.scripted import ScriptedServer


def start(*words: str, home: Path, **variables: str) -> subprocess.Popen[str]:
    """Type `adage` with these words; its Prefect and its caches live below ``home``."""
    environment = {**os.environ, "PREFECT_HOME": str(home / "prefect"), "XDG_CACHE_HOME": str(home / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "flows.cli.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | variables,
        start_new_session=True,
    )


def build_words(root: Path) -> list[str]:
    """The build of a root that `tests.flows.small` made."""
    return ["build", "capr", "--lang", "en", "--profile", "test", "--root", str(root)]


def start_build(root: Path, home: Path, *more: str, **variables: str) -> subprocess.Popen[str]:
    """Start that build."""
    return start(*build_words(root), *more, home=home, **variables)


def wait_until(reached: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something another process does."""
    deadline = time.monotonic() + seconds
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert reached()


def scenario_calls(server: ScriptedServer) -> int:
    """Scenario calls the server got so far."""
    return sum("short scenarios" in request.body["messages"][0]["content"] for request in server.chats)


def replies(root: Path) -> int:
    """Replies in the root's ledger."""
    with sqlite3.connect(root / "artifacts" / "ledger.sqlite") as ledger:
        return int(ledger.execute("SELECT count(*) FROM replies").fetchone()[0])
