"""Sentences of a text, by the marks that its language ends them with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import regex

_CLOSING = r"[\p{Pe}\p{Pf}\"']*"


def compile_splitter(ends: Sequence[str]) -> Callable[[str], list[str]]:
    """A function text -> sentences, each with its closing marks; a text without any is one sentence.

    Marks that other uses share with ASCII ("3.14", "example.com") end a sentence only before a blank.
    """
    ascii_ends = "|".join(regex.escape(end) for end in ends if end.isascii())
    others = "|".join(regex.escape(end) for end in ends if not end.isascii())
    parts = [rf"(?:{ascii_ends})+{_CLOSING}(?=\s|$)"] if ascii_ends else []
    parts += [rf"(?:{others})+{_CLOSING}"] if others else []
    end = regex.compile("|".join(parts))

    def split(text: str) -> list[str]:
        cuts = [match.end() for match in end.finditer(text)]
        pieces = (text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
        return [piece for piece in pieces if piece]

    return split
