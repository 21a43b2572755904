"""What makes a model's text no scenario at all: blank, a copy of the prompt's examples, a loop, a list."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import regex

_BULLET = regex.compile(r"^\s*(?:[-*•]|\p{N}{1,2}[.)、])\s", regex.MULTILINE)
_NUMBERED = regex.compile(r"(?<!\S)(\p{N})[.)、]\s")
_SHINGLE = 8


@dataclass(frozen=True)
class Defect:
    """Why a text is no scenario: the reason its rejection gets, and the numbers that decided it."""

    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:g}" for name, value in self.numbers.items())
        return f"{self.reason}: {numbers}" if numbers else self.reason


def defect(
    text: str, examples: Sequence[frozenset[str]], most_copied: float, most_repeated: float
) -> Defect | None:
    """The first defect of a text, or None. ``examples`` are the shingles of texts it must not copy."""
    if not text.strip():
        return Defect("blank")
    own = shingles(text)
    copied = max((len(own & example) / len(own) for example in examples if own), default=0.0)
    if copied > most_copied:
        return Defect("copied_example", {"share": round(copied, 4), "at_most": most_copied})
    repeated = repeated_share(text)
    if repeated > most_repeated:
        return Defect("loop", {"share": round(repeated, 4), "at_most": most_repeated})
    entries = list_entries(text)
    return Defect("list", {"entries": entries, "at_most": 1}) if entries > 1 else None


def shingles(text: str) -> frozenset[str]:
    """The text's runs of 8 characters without blanks and case.

    Characters, not words: a share of them means the same in scripts without spaces.
    """
    flat = "".join(text.split()).casefold()
    return frozenset(flat[i : i + _SHINGLE] for i in range(len(flat) - _SHINGLE + 1))


def repeated_share(text: str) -> float:
    """Share of a text's 8-character runs that occurred before in it: 0 for prose, near 1 for a loop."""
    flat = "".join(text.split())
    runs = [flat[i : i + _SHINGLE] for i in range(len(flat) - _SHINGLE + 1)]
    return (len(runs) - len(set(runs))) / max(len(runs), 1)


def list_entries(text: str) -> int:
    """Lines that begin as a list's do, or entries counted 1. 2. 3. within a line, whichever are more."""
    counted = 0
    for mark in _NUMBERED.findall(text):
        # Digits of every script: ٢ and ፪ are 2.
        counted += unicodedata.numeric(mark) == counted + 1
    return max(len(_BULLET.findall(text)), counted)
