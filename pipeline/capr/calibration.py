"""Similarity caps: the paper's 0.85, raised where an embedder puts unrelated texts above it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.embed.interface import Vectors

PAPER_CAP = 0.85
"""The cap of the ADAGE paper (sections 3.1 and 3.2)."""

QUANTILE = 0.995
LEAST_PAIRS = 200
MOST_ROWS = 4000

Similarities = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Cap:
    """A cap with what it was made from; ``quantile`` is None below 200 pairs, where the cap is the paper's."""

    cap: float
    quantile: float | None
    pairs: int


def calibrated_cap(similarities: Similarities) -> Cap:
    """The cap for one kind of pair: 0.85, or the 99.5 % quantile over pairs of different proverbs if higher.

    With multilingual-e5-small, unrelated texts lie above 0.8: a fixed 0.85 would reject most of them.
    """
    if len(similarities) < LEAST_PAIRS:
        return Cap(PAPER_CAP, None, len(similarities))
    quantile = float(np.quantile(similarities.astype(np.float64), QUANTILE))
    return Cap(max(PAPER_CAP, round(quantile, 6)), round(quantile, 6), len(similarities))


def within_pairs(vectors: Vectors) -> Similarities:
    """Cosines of all pairs of different rows; above 4,000 rows, of 4,000 evenly spaced ones."""
    if len(vectors) > MOST_ROWS:
        vectors = vectors[np.linspace(0, len(vectors) - 1, MOST_ROWS).astype(np.int64)]
    upper = np.triu_indices(len(vectors), k=1)
    found: Similarities = (vectors @ vectors.T)[upper].astype(np.float32)
    return found


def cross_pairs(proverbs: Vectors, scenarios: Vectors, owner: npt.NDArray[np.int64]) -> Similarities:
    """Cosines of every scenario with the proverbs that are not its own (``owner`` is the row of its own)."""
    if len(scenarios) > MOST_ROWS:
        chosen = np.linspace(0, len(scenarios) - 1, MOST_ROWS).astype(np.int64)
        scenarios, owner = scenarios[chosen], owner[chosen]
    foreign = np.ones((len(scenarios), len(proverbs)), dtype=bool)
    foreign[np.arange(len(scenarios)), owner] = False
    found: Similarities = (scenarios @ proverbs.T)[foreign].astype(np.float32)
    return found
