"""The scripted server's embeddings, without the server."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.embed.interface import Vectors
from tests.servers.embeddings import embedding

WINDOW = 2000


class HashEmbedder:
    """Deterministic unit vectors; texts that share n-grams are near each other. Records what it embedded."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.embedded: list[str] = []
        self.name = "hash"
        self.identity = f"hash {dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = [embedding(text, self.dimension) for text in texts]
        found: Vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        return found

    def cut(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > WINDOW for text in texts]
