"""Writes a fastText model file with weights of our choice, so that its probabilities are known."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

_MAGIC, _VERSION = 793712314, 12
_SOFTMAX, _SUPERVISED = 3, 3
_WORD, _LABEL = 0, 1


def write_model(
    path: Path, labels: Mapping[str, Sequence[float]], words: Mapping[str, Sequence[float]]
) -> None:
    """A softmax classifier without subwords: a text's vector is the mean of its known words' vectors.

    ``labels`` and ``words`` give each its vector, all of one length. The layout is that of fastText's own
    `FastText::saveModel`: arguments, dictionary, input matrix, output matrix.
    """
    dimension = len(next(iter(words.values())))
    # dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate; t
    arguments = struct.pack("<12id", dimension, 5, 1, 1, 5, 1, _SOFTMAX, _SUPERVISED, 0, 0, 0, 100, 1e-4)
    entries = [(word, _WORD) for word in words] + [(f"__label__{label}", _LABEL) for label in labels]
    dictionary = struct.pack("<3i2q", len(entries), len(words), len(labels), len(words), -1)
    for text, kind in entries:
        dictionary += text.encode() + b"\0" + struct.pack("<qb", 1, kind)
    matrices = b""
    for rows in (list(words.values()), list(labels.values())):
        not_quantised = b"\0"
        matrices += not_quantised + struct.pack("<2q", len(rows), dimension)
        matrices += b"".join(struct.pack(f"<{dimension}f", *row) for row in rows)
    path.write_bytes(struct.pack("<2i", _MAGIC, _VERSION) + arguments + dictionary + matrices)
