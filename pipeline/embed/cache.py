"""Vectors kept by (embedder, exact text): no text is embedded twice, and a warm build loads no model."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.embed.interface import Embedder, Vectors
from pipeline.errors import LedgerError
from pipeline.store.looking import read_only_uri
from pipeline.store.remedies import remedy

_READ = 500
# Vectors are written as they come, so that a killed build embeds no more than this many texts again.
_CHUNK = 256
_BUSY_SECONDS = 60.0

_DELETE = "delete it: this is safe, its vectors are made again and no model reply is lost"
_TABLE = """
CREATE TABLE IF NOT EXISTS embeddings (
    key BLOB PRIMARY KEY, vector BLOB NOT NULL, cut INTEGER NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class _Known:
    """A text's vector, and whether the text is longer than the embedder's window."""

    vector: Vectors
    cut: bool


class CachedEmbedder:
    """An embedder before which a file of known vectors stands. Several processes may share the file.

    Raises LedgerError naming the file when it is damaged or cannot be used.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path

    @property
    def name(self) -> str:
        """The inner embedder's name."""
        return self._embedder.name

    @property
    def identity(self) -> str:
        """The inner embedder's identity."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors in the order of ``texts``; unknown distinct texts are embedded once and kept."""
        if not texts:
            return self._embedder.embed([])
        known = self._known(texts)
        return np.stack([known[text].vector for text in texts])

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text is longer than the window; kept beside its vector, so no model is loaded."""
        known = self._known(texts)
        return [known[text].cut for text in texts]

    def missing(self, texts: Sequence[str]) -> int:
        """How many distinct texts have no vector yet; embeds none."""
        keys = {_key(self.identity, text) for text in texts}
        return len(keys) - len(self._read(list(keys)))

    def _known(self, texts: Sequence[str]) -> dict[str, _Known]:
        identity = self.identity
        keys = {text: _key(identity, text) for text in texts}
        stored = self._read(list(keys.values()))
        known = {text: stored[key] for text, key in keys.items() if key in stored}
        missing = [text for text in keys if text not in known]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            vectors, cuts = self._embedder.embed(chunk), self._embedder.cut(chunk)
            fresh = {
                text: _Known(vector, cut) for text, vector, cut in zip(chunk, vectors, cuts, strict=True)
            }
            self._write({keys[text]: found for text, found in fresh.items()})
            known |= fresh
        return known

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, _Known]:
        found: dict[bytes, _Known] = {}
        if not self._path.exists():
            return found
        with self._open(look=True) as connection:
            for start in range(0, len(keys), _READ):
                part = keys[start : start + _READ]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT key, vector, cut FROM embeddings WHERE key IN ({marks})", part
                )
                for key, blob, cut in rows:
                    found[key] = _Known(np.frombuffer(blob, dtype="<f4").astype(np.float32), bool(cut))
        return found

    def _write(self, fresh: dict[bytes, _Known]) -> None:
        rows = [(key, np.asarray(f.vector, dtype="<f4").tobytes(), int(f.cut)) for key, f in fresh.items()]
        with self._open() as connection:
            connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", rows)

    @contextmanager
    def _open(self, *, look: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            uri = read_only_uri(self._path) if look else None
            if uri:
                with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
                    yield connection
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(
                sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            ) as connection:
                # Taken before anything is read: a lock that is upgraded later fails instead of waiting.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"{self._path}: the vector cache cannot be used: {error}: {remedy(error, _DELETE)}"
            ) from error


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\n{text}".encode("utf-8", "surrogatepass")).digest()
