"""Files that are either whole or absent."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.errors import StorageError


def write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it there: the old file stays whole.

    Raises StorageError naming the file when the disk is full, the folder is not for us to write to, or
    something other than a file is there already.
    """
    if path.exists() and not path.is_file():
        # Renaming would put a file in the place of a pipe or of /dev/stdout.
        raise StorageError(f"{path} is no file and would be replaced: name another one")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_and_rename(path, write)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}: make room there, or make its folder "
            "writable for you, then run the same command again: all that was finished is kept"
        ) from error


def _write_and_rename(path: Path, write: Callable[[BinaryIO], None]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; what we write is meant to be shared like any other file of the root.
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically, line ends as given."""
    write_atomically(path, lambda stream: (stream.write(text.encode("utf-8")), None)[1])


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented UTF-8 JSON, atomically."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no blanks, no NaN."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_text(text: str) -> str:
    """Hex sha256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_json(value: Any) -> str:
    """Hex sha256 of a value's canonical JSON."""
    return digest_text(canonical_json(value))


def digest_file(path: Path) -> str:
    """Hex sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
