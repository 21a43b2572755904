"""What only looks works in a root where one may not write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.store.tables import read_table

# Root may write everywhere, so as root the tests give that right up.
_DROP = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []


def _chmod(root: Path, folder: int, file: int) -> None:
    for place in (root, *root.rglob("*")):
        place.chmod(folder if place.is_dir() else file)


@pytest.fixture
def closed(built: Path, tmp_path: Path) -> Iterator[Path]:
    root = shutil.copytree(built, tmp_path / "root")
    _chmod(root, 0o555, 0o444)
    yield root
    _chmod(root, 0o755, 0o644)


def _type(*words: object) -> subprocess.CompletedProcess[str]:
    command = [*_DROP, sys.executable, "-m", "flows.cli.main", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(bool(_DROP) and not shutil.which("setpriv"), reason="root without setpriv")
def test_looking_needs_no_right_to_write(closed: Path, tmp_path: Path) -> None:
    [train] = closed.glob("artifacts/capr/en/runs/test/dataset/train.parquet")
    item = read_table(train)["item_id"][0].as_py()
    before = {place: place.stat().st_mtime_ns for place in closed.rglob("*")}
    for words, said in (
        (("why", item, "--lang", "en"), "reply"),
        (("ledger", "stats"), "replies"),
        (("ledger", "export", tmp_path / "all.jsonl"), "replies"),
        (("explain", "capr", "--lang", "en", "--profile", "test"), "model calls of a build: no calls"),
    ):
        ended = _type(*words, "--root", closed)
        assert (ended.returncode, ended.stderr) == (0, ""), words
        assert said in ended.stdout, words
    refused = _type("ledger", "prune", "--model", "ollama:", "--yes", "--root", closed)
    assert refused.returncode == 4
    assert "make the file and its folder writable for you" in refused.stderr
    assert {place: place.stat().st_mtime_ns for place in closed.rglob("*")} == before
