"""What is usual in a script: where a new language file starts from, for people to correct."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

_ANY = ("nfkc", "case", "zero_width", "apostrophe", "punctuation", "spaces")
_LATIN = ("nfkc", "case", "zero_width", "marks", "apostrophe", "punctuation", "spaces")
_ARABIC = ("nfkc", "case", "zero_width", "tashkeel", "tatweel", "alef", "apostrophe", "punctuation", "spaces")
_INDIC = ("nfkc", "case", "zero_width", "nukta", "apostrophe", "punctuation", "spaces")
_ETHIOPIC = ("nfkc", "case", "zero_width", "geez_marks", "apostrophe", "punctuation", "spaces")

_PLAIN_MARKS = " .,;:!?'()-"
_WIDE_MARKS = "、。，！？；：「」『』（）《》…・ "


@dataclass(frozen=True)
class Habits:
    """``marks`` is the punctuation of a grammar; ``letters``, where given, stand for the script's own."""

    direction: str = "ltr"
    key: Sequence[str] = _ANY
    sentence_end: Sequence[str] = (".", "!", "?", "…")
    marks: str = _PLAIN_MARKS
    letters: str = ""
    word_spaces: bool = True


_SPACELESS = Habits(word_spaces=False)
_RIGHT_TO_LEFT = Habits(direction="rtl")
_EAST_ASIAN = Habits(sentence_end=("。", "！", "？", "!", "?"), marks=_WIDE_MARKS, word_spaces=False)
_DANDA = Habits(key=_INDIC, sentence_end=("।", "॥", "?", "!"), marks=" ।,?!()-")

HABITS: dict[str, Habits] = {
    "Latin": Habits(key=_LATIN, letters="A-Za-z"),
    "Arabic": Habits("rtl", _ARABIC, (".", "؟", "!", "…", "۔"), " ،؛؟.!:«»()-"),
    "Hebrew": Habits("rtl", _LATIN),
    "Syriac": _RIGHT_TO_LEFT,
    "Thaana": _RIGHT_TO_LEFT,
    "Nko": _RIGHT_TO_LEFT,
    "Adlam": _RIGHT_TO_LEFT,
    "Ethiopic": Habits(key=_ETHIOPIC, sentence_end=("።", "፡፡", "፧", "?", "!"), marks="፠-፧ .,!?()-"),
    "Devanagari": _DANDA,
    "Bengali": _DANDA,
    "Gurmukhi": _DANDA,
    "Gujarati": Habits(key=_INDIC),
    "Oriya": _DANDA,
    "Thai": _SPACELESS,
    "Lao": _SPACELESS,
    "Khmer": Habits(sentence_end=("។", "៕", "?", "!"), marks=" ។៕?!()-", word_spaces=False),
    "Myanmar": Habits(sentence_end=("။", "?", "!"), marks=" ၊။?!()-", word_spaces=False),
    "Tibetan": Habits(sentence_end=("།",), marks=" ་།", word_spaces=False),
    "Han": _EAST_ASIAN,
    "Hiragana": _EAST_ASIAN,
    "Katakana": _EAST_ASIAN,
}
"""Script -> what is usual; a script that is not listed has the plain habits."""


def habits_of(scripts: Sequence[str]) -> Habits:
    """The habits of a language's first script; the plain ones where none is named."""
    return HABITS.get(next(iter(scripts), ""), Habits())


def grammar_for(scripts: Sequence[str], letters: str) -> str:
    """The characters a text may be written with: letters, digits and the usual marks.

    ``letters`` are the language's own; Latin languages have them beside A to Z, with their capitals. Without
    any, all modern letters of the scripts are allowed.
    """
    habits = habits_of(scripts)
    own = {*letters, *letters.upper()} - {" "}
    start = habits.letters
    if not own and not start:
        own = {character for script in scripts for character in _letters_of(script)}
    own -= set(regex.findall(f"[{start}]", "".join(own))) if start else set()
    marks = habits.marks
    return (
        start + character_class(own) + "0-9" + marks.removesuffix("-") + ("-" if marks.endswith("-") else "")
    )


def character_class(characters: Iterable[str]) -> str:
    """The inside of a character class: runs of three and more become ranges."""
    runs: list[list[int]] = []
    for point in sorted({ord(character) for character in characters if character.strip("-")}):
        if runs and runs[-1][-1] == point - 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return "".join(
        f"{chr(run[0])}-{chr(run[-1])}" if len(run) > 2 else "".join(map(chr, run)) for run in runs
    )


def _letters_of(script: str) -> list[str]:
    # Up to the presentation forms (ﻣ, ｱ), which are another writing of letters that are in the list anyway.
    plane = "".join(chr(point) for point in range(0xF900) if not 0xD800 <= point < 0xE000)
    found: list[str] = regex.findall(rf"(?V1)[\p{{Script={script}}}&&[\p{{L}}\p{{M}}]]", plane)
    return found
