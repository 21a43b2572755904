"""An embedder for tests: character n-gram profiles, hashed into a fixed number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.hashing import stable_hash

WINDOW = 2000


class HashEmbedder:
    """Deterministic unit vectors; texts that share trigrams are near each other. Records what it embedded."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.embedded: list[str] = []
        self.name = "hash"
        self.identity = f"hash {dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            padded = f"  {text} "
            for i in range(len(padded) - 2):
                code = stable_hash(padded[i : i + 3])
                vectors[row, code % self.dimension] += 1.0 if code & (1 << 40) else -1.0
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        found: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return found

    def cut(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > WINDOW for text in texts]
