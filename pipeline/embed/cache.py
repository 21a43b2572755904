"""Vectors kept by (embedder, exact text): no text is embedded twice, and a warm build loads no model."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pipeline.embed.interface import Embedder, Vectors
from pipeline.errors import LedgerError

_READ = 500
_BUSY_SECONDS = 60.0


class CachedEmbedder:
    """An embedder before which a file of known vectors stands."""

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

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """As the inner embedder says."""
        return self._embedder.cut(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors in the order of ``texts``; unknown distinct texts are embedded once and kept."""
        keys = {text: self._key(text) for text in texts}
        known = self._read(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in known]
        if missing:
            fresh = self._embedder.embed(missing)
            new = {keys[text]: vector for text, vector in zip(missing, fresh, strict=True)}
            self._write(new)
            known |= new
        if not texts:
            return self._embedder.embed([])
        return np.stack([known[keys[text]] for text in texts])

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.identity}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _READ):
                part = keys[start : start + _READ]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                found.update((key, np.frombuffer(blob, dtype="<f4")) for key, blob in rows)
        return found

    def _write(self, vectors: dict[bytes, Vectors]) -> None:
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        with self._open() as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
            try:
                with connection:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.execute(
                        "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                    )
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerError(
                f"{self._path}: the vector cache cannot be used: {error}. If it is damaged, delete it: "
                "vectors are made again without model calls"
            ) from error
