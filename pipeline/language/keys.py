"""Comparison keys: two spellings of one text get one key. Stored text is never changed by a key."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import regex

Key = Callable[[str], str]


@dataclass(frozen=True)
class Form:
    """Normalise the whole string; the first step of every key and, again, its last."""

    form: Literal["NFC", "NFKC"]


@dataclass(frozen=True)
class Drop:
    """Leave out the characters of a class, given as the inside of the brackets."""

    inside: str


@dataclass(frozen=True)
class Letters:
    """Write one letter for another: (written, meant) pairs; what is meant is never itself replaced."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Apply:
    """Any other change of the whole string."""

    change: Key


Change = Drop | Letters | Apply
Step = Form | Change


def _pairs(text: str) -> Letters:
    return Letters(tuple((pair[0], pair[1:]) for pair in text.split()))


def _geez_homophones() -> Letters:
    # Amharic writes one sound with several series of the syllabary: ሀ ሐ ኀ ኸ, ሰ ሠ, አ ዐ, ጸ ፀ, each with its
    # seven vowels. In h and in the glottal series the first and the fourth vowel sound the same too, and
    # ጐ ኰ ቈ ኈ stand beside ጎ ኮ ቆ ሆ in everyday spelling (ጐንደር, ጎንደር).
    first_is_fourth = {"ሀ", "አ"}
    pairs: dict[str, str] = {}
    for target, sources in (("ሀ", "ሀሐኀኸ"), ("ሰ", "ሠ"), ("አ", "አዐ"), ("ጸ", "ፀ")):
        for source in sources:
            for vowel in range(7):
                meant = 0 if target in first_is_fourth and vowel == 3 else vowel
                pairs[chr(ord(source) + vowel)] = chr(ord(target) + meant)
    pairs |= {"ሗ": "ኋ", "ሧ": "ሷ", "ጐ": "ጎ", "ኰ": "ኮ", "ቈ": "ቆ", "ኈ": "ሆ"}
    return Letters(tuple((written, meant) for written, meant in pairs.items() if written != meant))


def _fold(text: str) -> str:
    # casefold takes ǰ apart; composing again keeps one letter one letter.
    return unicodedata.normalize("NFC", text.casefold())


def _turkish_fold(text: str) -> str:
    # casefold makes i with a combining dot of İ, and i of I, which in Turkish is the capital of ı.
    return _fold(text.replace("İ", "i").replace("I", "ı"))


_MARK = regex.compile(r"\p{M}+")
_APOSTROPHE = regex.compile(r"(?<=[\p{L}\p{M}])['\u2018\u2019\u02BB\u02BC\u2032\uFF07`´]+(?=\p{L})")
_PUNCTUATION = regex.compile(r"[\p{P}\p{S}\p{Me}]+")


def _without_marks(text: str) -> str:
    bare = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", _MARK.sub("", bare))


STEPS: dict[str, Step] = {
    "nfc": Form("NFC"),
    "nfkc": Form("NFKC"),
    "turkish_case": Apply(_turkish_fold),
    "case": Apply(_fold),
    # Joiners, directional marks, byte-order marks, soft hyphens, emoji variation selectors.
    "zero_width": Drop(r"\p{Cf}\p{Variation_Selector}\u034F"),
    # Vowel marks, the marks of the Quran, and combining hamza and madda left over from NFC.
    "tashkeel": Drop(r"\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED\u08D3-\u08FF"),
    "tatweel": Drop(r"\u0640"),
    "nukta": Drop(r"\u093C"),
    "geez_marks": Drop(r"\u135D-\u135F"),
    "marks": Apply(_without_marks),
    "alef": _pairs("أا إا آا ٱا ٲا ٳا"),
    "hamza_seat": _pairs("ؤو ئي"),
    "ya": _pairs("ىي یي ېي"),
    "kaf": _pairs("کك ڪك"),
    "ta_marbuta": _pairs("ةه"),
    "persian_ya": _pairs("يی ىی"),
    "persian_kaf": _pairs("كک"),
    "persian_he": _pairs("ۀه ةه ەه"),
    "chandrabindu": _pairs("\u0901\u0902"),
    "circumflex": _pairs("âa îi ûu"),
    "hooked_letters": _pairs("ɓb ɗd ƙk ƴy"),
    "geez_homophones": _geez_homophones(),
    "apostrophe": Apply(lambda text: _APOSTROPHE.sub("", text)),
    "punctuation": Apply(lambda text: _PUNCTUATION.sub(" ", text)),
    "spaces": Apply(lambda text: " ".join(text.split())),
}
"""Step name, as a language file lists it -> what it does. Files list steps in this order, in which they
are known to work together: a step never writes what an earlier one replaces."""

_MOST_ROUNDS = 4


def undoing(names: Sequence[str]) -> tuple[str, str] | None:
    """Two steps of which the later writes a letter that the earlier replaces (كک against کك), or None."""
    replaced: dict[str, str] = {}
    for name in names:
        step = STEPS[name]
        if isinstance(step, Letters):
            replaced |= {written: name for written, _ in step.pairs}
            for _, meant in step.pairs:
                if meant in replaced:
                    return replaced[meant], name
    return None


def compile_key(names: Sequence[str]) -> Key:
    """The key function of the named steps; a key of a key is the key itself.

    The steps run once and, where dropping something between two characters let them compose (a jamo, a
    letter and its mark), again.
    """
    steps = [STEPS[name] for name in names]
    normalise = unicodedata.normalize
    normal_form = next(step.form for step in steps if isinstance(step, Form))
    functions = [_function(step) for step in _merged([s for s in steps if not isinstance(s, Form)])]

    def key(text: str) -> str:
        text = normalise(normal_form, text)
        for _ in range(_MOST_ROUNDS):
            for change in functions:
                text = change(text)
            before, text = text, normalise(normal_form, text)
            if before == text:
                break
        return text

    return key


def _merged(steps: Sequence[Change]) -> list[Change]:
    # One pass of the regex engine for neighbouring classes, instead of one each.
    merged: list[Change] = []
    for step in steps:
        last = merged[-1] if merged else None
        if isinstance(step, Drop) and isinstance(last, Drop):
            merged[-1] = Drop(last.inside + step.inside)
        elif isinstance(step, Letters) and isinstance(last, Letters):
            merged[-1] = Letters(last.pairs + step.pairs)
        else:
            merged.append(step)
    return merged


def _function(step: Change) -> Key:
    if isinstance(step, Drop):
        dropped = regex.compile(f"[{step.inside}]+")
        return lambda text: dropped.sub("", text)
    if isinstance(step, Letters):
        return _replacing(step.pairs)
    return step.change


def _replacing(pairs: tuple[tuple[str, str], ...]) -> Key:
    # Forty single-letter replaces are faster than one translate: each is a search in C, translate looks up
    # every character of the text in a dict.
    def replace(text: str) -> str:
        for written, meant in pairs:
            text = text.replace(written, meant)
        return text

    return replace
