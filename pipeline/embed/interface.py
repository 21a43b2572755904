"""What a stage knows of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """The model's name as the profile gives it."""
        ...

    @property
    def identity(self) -> str:
        """Digest-based identity of weights, prefix and engine. Enters stage keys and the vector cache."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension), in the order of ``texts``."""
        ...

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text is longer than the model's window, so its end does not count."""
        ...
