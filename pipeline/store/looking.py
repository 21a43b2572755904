"""Looking into a database that lies where one may not write."""

from __future__ import annotations

import os
from pathlib import Path


def read_only_uri(file: Path) -> str | None:
    """The SQLite URI that opens an existing file for reading only; None where one may write, as usual.

    A file with a write-ahead log is opened with the log and the index beside it. Where there is no log nobody
    has it open, so it is read as a file that does not change: SQLite would make a log else.
    """
    if not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return None
    still = "" if Path(f"{file}-wal").exists() or Path(f"{file}-journal").exists() else "&immutable=1"
    return f"{file.resolve().as_uri()}?mode=ro{still}"
