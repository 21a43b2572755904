"""A file cut in the middle of a write: the old one is whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pytest

from pipeline.store.files import write_atomically, write_json, write_text
from pipeline.store.tables import read_table, write_table

REPOSITORY = Path(__file__).parents[2]
OLD = "the old file, whole"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text(OLD, encoding="utf-8")
    return path


def _breaks(stream: BinaryIO) -> None:
    stream.write(b"half of the new")
    stream.flush()
    raise KeyboardInterrupt


def test_a_write_that_breaks_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, _breaks)
    assert file.read_text(encoding="utf-8") == OLD
    assert list(file.parent.iterdir()) == [file]


def test_a_process_killed_in_mid_write_leaves_the_old_file(file: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from pipeline.store.files import write_atomically\n"
        "def write(stream):\n"
        "    stream.write(b'half of the new'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(Path(sys.argv[1]), write)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(file)], cwd=REPOSITORY, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert file.read_text(encoding="utf-8") == OLD


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_text(path, "\ud800 is half a character"),
        lambda path: write_json(path, {"number": float("nan")}),
        lambda path: write_json(path, {"key": object()}),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(file: Path, write: Callable[[Path], None]) -> None:
    with pytest.raises((ValueError, TypeError)):
        write(file)
    assert file.read_text(encoding="utf-8") == OLD
    assert list(file.parent.iterdir()) == [file]


def test_equal_tables_are_equal_bytes_and_come_back(tmp_path: Path) -> None:
    cells = ["None", "NA", "null", "007", "", "=1+1", "ሰላም"]
    table = pa.table({"text": cells})
    write_table(tmp_path / "a.parquet", table)
    write_table(tmp_path / "b.parquet", pa.table({"text": list(cells)}))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_table(tmp_path / "a.parquet")["text"].to_pylist() == cells


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    write_text(tmp_path / "new" / "deep" / "file", "text")
    assert (tmp_path / "new" / "deep" / "file").read_text(encoding="utf-8") == "text"
