"""Theme labels that are one theme: the same words in another order or number, or the same point."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from pipeline.embed.interface import Vectors

_ARTICLES = frozenset({"a", "an", "the"})
_PLURAL = regex.compile(r"(?<=\p{L}{3}[^\Wsui])s$")
_BLOCK = 512


def same_theme(labels: Sequence[str], vectors: Vectors, least: float) -> list[int]:
    """For each label the place of the first one that is the same theme, its own where it is the first.

    Two labels are one theme when their words are equal (``theme_words``) or their cosine is at least
    ``least``. Likeness is not transitive: a label whose like was itself merged into another stands alone.
    """
    by_words: dict[str, int] = {}
    first = [by_words.setdefault(theme_words(label), place) for place, label in enumerate(labels)]
    for start in range(0, len(labels), _BLOCK):
        alike = vectors[start : start + _BLOCK] @ vectors.T >= least
        for offset, row in enumerate(alike):
            place = start + offset
            row[place] = True
            first[place] = min(first[place], int(row.argmax()))
    return [one if first[one] == one else place for place, one in enumerate(first)]


def theme_words(label: str) -> str:
    """A normalised label without articles and plural s, what stands round "and" in alphabetical order.

    Only whole parts change places, so "words over deeds" and "deeds over words" stay two themes. Labels are
    English whatever the language (ADAGE paper, section 3.1), so an English rule serves all. No embedding
    could do this: to multilingual-e5-small the two are more alike (0.986) than "honour" and "honor".
    """
    parts = [
        " ".join(_PLURAL.sub("", word) for word in part.split() if word not in _ARTICLES)
        for part in f" {label} ".split(" and ")
    ]
    return " and ".join(sorted(parts))
