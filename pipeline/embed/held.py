"""An embedder that embeds nothing, for looking at what a cache holds without loading a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.embed.interface import Embedder, Vectors


class NotEmbedded(Exception):
    """A text has no vector yet, and none was to be made."""


class NothingMore:
    """Stands behind a cache in an embedder's place, under its identity; what the cache lacks is an error."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The embedder's name."""
        return self._embedder.name

    @property
    def identity(self) -> str:
        """The embedder's identity."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        """No vectors for no texts; raises NotEmbedded for any other."""
        if texts:
            raise NotEmbedded
        return np.zeros((0, 0), dtype=np.float32)

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """Nothing for no texts; raises NotEmbedded for any other."""
        if texts:
            raise NotEmbedded
        return []
