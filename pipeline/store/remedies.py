"""What to do when a database file cannot be used, by what the database says."""

from __future__ import annotations

_SAVED = "then run again: all that was committed so far is kept"
_SIGNS = (
    ("locked", "another program holds it; end that program, then run again"),
    ("disk is full", f"free some disk space, {_SAVED}"),
    ("No space left", f"free some disk space, {_SAVED}"),
    ("disk I/O error", f"look after the disk and its free space, {_SAVED}"),
    ("readonly", "make the file and its folder writable for you"),
    ("unable to open", "make the file and its folder writable for you"),
    ("Permission denied", "make the file and its folder writable for you"),
)


def remedy(cause: object, otherwise: str) -> str:
    """What to type or change, for the words in which SQLite or the system puts it; else ``otherwise``."""
    return next((text for sign, text in _SIGNS if sign in str(cause)), otherwise)
