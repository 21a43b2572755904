"""A disk that is full: one clear error, nothing lost, and the same command goes on when there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.assembly import assemble
from flows.screen import Screen
from pipeline.capr.graph import STAGES
from pipeline.errors import AdageError, LedgerError, StorageError
from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import stats
from tests.flows.kills import SLOTS, repeated
from tests.flows.small import build, make_root, request
from tests.servers.needed import unavailable
from tests.servers.scripted import ScriptedServer


class SmallDisk:
    """A disk of 8 MB that can be filled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, *, free: int = 0) -> None:
        """Leave so many bytes."""
        room = os.statvfs(self.folder)
        self._filler.write_bytes(b"\0" * (room.f_bavail * room.f_frsize - free))

    def empty(self) -> None:
        self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        unavailable(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield SmallDisk(folder)
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(delay=0.02) as running:
        yield running


def _root(tmp_path: Path, server: ScriptedServer, **changed: Any) -> Path:
    root = make_root(tmp_path / "root", server.address)
    file = root / "profiles" / "test.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text(encoding="utf-8")), **changed}))
    return root


def _on_disk(tmp_path: Path, server: ScriptedServer, disk: SmallDisk) -> Path:
    """A root with its artifacts on the small disk and its ledger elsewhere."""
    root = _root(tmp_path, server, ledger=str(tmp_path / "ledger.sqlite"))
    (root / "artifacts").symlink_to(disk.folder / "artifacts")
    (disk.folder / "artifacts").mkdir()
    return root


def _held(file: Path) -> int:
    """Replies in a ledger, which is closed again: an open file keeps the disk mounted."""
    ledger = Ledger(file, make=False)
    try:
        return stats(ledger).replies
    finally:
        ledger.close()


def _run_until_full(root: Path, stage: str, disk: SmallDisk) -> AdageError:
    """Run the stages before ``stage``, fill the disk, and give back what ``stage`` says."""
    with assemble(request(root), Screen()) as assembly:
        for name in STAGES:
            if name != stage:
                assembly.run(name)
                continue
            disk.fill()
            with pytest.raises(AdageError) as caught:
                assembly.run(name)
            return caught.value
    raise AssertionError(stage)


def test_the_ledgers_disk(tmp_path: Path, server: ScriptedServer, disk: SmallDisk) -> None:
    ledger = disk.folder / "ledger.sqlite"
    root = _root(tmp_path, server, ledger=str(ledger))
    Ledger(ledger).close()
    disk.fill(free=300_000)
    with pytest.raises(LedgerError) as caught:
        build(root)
    said = str(caught.value)
    assert f"the call ledger {ledger} could not be written: " in said
    assert "free some disk space, then run again: all that was committed so far is kept" in said
    disk.empty()
    kept = _held(ledger)
    assert 0 < len(server.chats) - kept <= SLOTS
    _, calls, _ = build(root)
    assert repeated(server) <= SLOTS
    assert _held(ledger) == kept + calls["made"] == len(server.chats) - repeated(server)


@pytest.mark.parametrize("stage", ["acquire", "label", "name_clusters", "judge"])
def test_the_tables_disk(tmp_path: Path, server: ScriptedServer, disk: SmallDisk, stage: str) -> None:
    root = _on_disk(tmp_path, server, disk)
    error = _run_until_full(root, stage, disk)
    assert isinstance(error, StorageError)
    place = root.resolve() / "artifacts" / "capr" / "en" / "stages" / stage
    assert str(error).startswith(f"{place}/")
    assert "No space left on device: make room there" in str(error)
    assert "run the same command again: all that was finished is kept" in str(error)
    disk.empty()
    asked = len(server.chats)
    stages, calls, _ = build(root)
    assert repeated(server) == 0
    assert calls["made"] == len(server.chats) - asked
    assert [name for name, ref in stages.items() if ref.cached] == list(STAGES)[: list(STAGES).index(stage)]


def test_the_vectors_disk(tmp_path: Path, server: ScriptedServer, disk: SmallDisk) -> None:
    root = _on_disk(tmp_path, server, disk)
    error = _run_until_full(root, "cluster", disk)
    assert isinstance(error, LedgerError)
    assert "vectors.sqlite: the vector cache cannot be used: " in str(error)
    assert "free some disk space" in str(error)
    disk.empty()
    _, calls, summary = build(root)
    assert repeated(server) == 0
    assert calls["made"] > 0
    assert summary.as_json["items"] > 0
