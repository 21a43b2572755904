"""Which vectors can be compared at all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.embed.interface import Vectors

Mask = npt.NDArray[np.bool_]

NO_EMBEDDING = "no_embedding"
"""Reason of a row whose text has no usable vector."""


def usable(vectors: Vectors) -> Mask:
    """True for rows that are finite and not zero: to any other no similarity and no distance means anything.

    A NaN fails every comparison, so it would pass every cap; a zero vector is like nothing and passes too.
    """
    return np.asarray(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1), dtype=np.bool_)
