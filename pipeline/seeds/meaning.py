"""Which meaning of a seed row counts."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.language.language import Language


def meaning_of(row: Mapping[str, str], language: Language) -> tuple[str, str]:
    """The meaning that models are given, and where it is from: native, else en, else two empty texts.

    A cell whose comparison key is empty, such as "-" or "...", says nothing and is no meaning.
    """
    for name, origin in (("meaning", "native"), ("meaning_en", "en")):
        if language.key(row[name]):
            return row[name], origin
    return "", ""
