"""Scripted embeddings: unit vectors of hashed character n-grams, so that like texts have like vectors."""

from __future__ import annotations

import hashlib
import math

DIMENSION = 64


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """The vector of a text, rounded as JSON carries it; a text without letters gives zeros."""
    vector = [0.0] * dimension
    flat = " ".join(text.split()).casefold()
    for size in (1, 2, 3):
        for start in range(len(flat) - size + 1):
            digest = hashlib.blake2b(
                flat[start : start + size].encode("utf-8", "replace"), digest_size=8
            ).digest()
            number = int.from_bytes(digest)
            vector[number % dimension] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(x * x for x in vector))
    return [round(x / length, 7) for x in vector] if length else vector
