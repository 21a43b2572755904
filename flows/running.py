"""The mark of a run that is going on: one build at a time in a run's folder, and a killed one is noticed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pipeline.errors import PrerequisiteError, StorageError

_MARK = ".running"


@contextmanager
def running(folder: Path, flow_run_id: str) -> Iterator[dict[str, Any] | None]:
    """Mark a run as going on; yields the mark (pid, flow_run_id) of an earlier one that was cut off.

    The mark is a locked file: the lock ends with the process, however that ends, and the text stays. Raises
    PrerequisiteError while another process holds it: two builds at once would ask the same calls twice.
    """
    with _opened(folder / _MARK) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = _read(stream)
            which = f"process {other['pid']}" if other else "another process"
            raise PrerequisiteError(
                f"{folder}: {which} is building this run already: wait until it has ended, or stop it (both "
                "would ask the same calls); what it has finished is reused"
            ) from error
        earlier = _read(stream)
        _write(stream, json.dumps({"pid": os.getpid(), "flow_run_id": flow_run_id}))
        try:
            yield earlier
        finally:
            # Ended, well or not, and said so itself.
            _write(stream, "")


def _opened(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+", encoding="utf-8")
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}: make room there, or make its folder "
            "writable for you, then run the same command again"
        ) from error


def _read(stream: IO[str]) -> dict[str, Any] | None:
    stream.seek(0)
    try:
        mark: dict[str, Any] = json.loads(stream.read())
    except ValueError:
        return None
    return mark


def _write(stream: IO[str], text: str) -> None:
    stream.seek(0)
    stream.truncate()
    stream.write(text)
    stream.flush()
