"""One build at a time in a run's folder, and a killed one is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flows.running import running
from pipeline.errors import PrerequisiteError, StorageError

REPO = Path(__file__).resolve().parents[2]
HOLD = (
    "import sys; from pathlib import Path; from flows.running import running\n"
    "with running(Path(sys.argv[1]), 'theirs'):\n"
    "    print('up', flush=True); sys.stdin.read()"
)


def test_a_second_build_is_refused_and_a_killed_one_leaves_its_mark(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "demo"
    with running(folder, "first") as earlier:
        assert earlier is None
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"up\n"
        with pytest.raises(PrerequisiteError, match=f"process {other.pid} is building"), running(folder, "x"):
            pass
        other.kill()
        other.wait(30)
    with running(folder, "second") as earlier:
        assert earlier == {"pid": other.pid, "flow_run_id": "theirs"}
    with running(folder, "third") as earlier:
        assert earlier is None


def test_an_end_with_an_error_is_an_end(tmp_path: Path) -> None:
    with pytest.raises(KeyError), running(tmp_path, "first"):
        raise KeyError
    with running(tmp_path, "second") as earlier:
        assert earlier is None


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"\.running cannot be written"), running(tmp_path / "file", "x"):
        pass
