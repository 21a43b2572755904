"""Probable variants: proverbs whose wording is so close that one may be a spelling of the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

SIMILAR = 0.80
"""Cosine of character bigram and trigram profiles above which two keys count as variants (our choice)."""

_BLOCK = 2000


def probable_variants(keys: Sequence[str], least: float = SIMILAR) -> list[tuple[int, int, float]]:
    """Pairs (earlier row, later row, similarity) of comparison keys above ``least``, each pair once.

    Runs in blocks of rows on sparse profiles, so that 30,000 keys fit in memory.
    """
    texts = [f" {key} " for key in keys]
    if len([t for t in texts if t.strip()]) < 2:
        return []
    profiles = TfidfVectorizer(analyzer="char", ngram_range=(2, 3), lowercase=False).fit_transform(texts)
    pairs: list[tuple[int, int, float]] = []
    for start in range(0, len(texts), _BLOCK):
        block = (profiles[start : start + _BLOCK] @ profiles.T).tocoo()
        near = block.data >= least
        for row, column, value in zip(
            block.row[near] + start, block.col[near], block.data[near], strict=True
        ):
            if column < row:
                pairs.append((int(column), int(row), float(np.round(value, 4))))
    return sorted(pairs)
