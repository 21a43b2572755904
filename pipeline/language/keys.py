"""Comparison keys: two spellings of one text get one key. Stored text is never changed by a key."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import regex

Step = Callable[[str], str]


def _table(pairs: str) -> Step:
    """A step that maps letters: "ab cd" maps a to b and c to d."""
    table = str.maketrans({pair[0]: pair[1:] for pair in pairs.split()})
    return lambda text: text.translate(table)


def _removing(pattern: str, by: str = "") -> Step:
    compiled = regex.compile(pattern)
    return lambda text: compiled.sub(by, text)


def _geez_homophones() -> Step:
    # Amharic writes one sound with several series of the syllabary; ሀ ሐ ኀ ኸ, ሰ ሠ, አ ዐ, ጸ ፀ, each with its
    # seven vowels. In the first and fourth order of h and the glottal series the sound is the same too.
    pairs: dict[int, str] = {}
    for source, target in (("ሐ", "ሀ"), ("ኀ", "ሀ"), ("ኸ", "ሀ"), ("ሠ", "ሰ"), ("ዐ", "አ"), ("ፀ", "ጸ")):
        for vowel in range(7):
            pairs[ord(source) + vowel] = chr(ord(target) + vowel)
    for source, target in (("ሃ", "ሀ"), ("ሓ", "ሀ"), ("ኃ", "ሀ"), ("ኻ", "ሀ"), ("ኣ", "አ"), ("ዓ", "አ")):
        pairs[ord(source)] = target
    return lambda text: text.translate(pairs)


def _turkish_lower(text: str) -> str:
    # Python lowers İ to i with a combining dot and I to i: in Turkish I is the capital of ı.
    return text.replace("İ", "i").replace("I", "ı").casefold()


STEPS: dict[str, Step] = {
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "case": str.casefold,
    "turkish_case": _turkish_lower,
    "zero_width": _removing(r"[\p{Cf}\p{Variation_Selector}]"),
    "tashkeel": _removing(
        r"[\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED\u08D3-\u08FF]"
    ),
    "tatweel": _removing(r"\u0640"),
    "alef": _table("أا إا آا ٱا"),
    "ya": _table("ىي یي ېي"),
    "kaf": _table("کك ڪك"),
    "ta_marbuta": _table("ةه"),
    "persian_ya": _table("يی ىی"),
    "persian_kaf": _table("كک"),
    "geez_homophones": _geez_homophones(),
    "marks": _removing(r"\p{M}"),
    "decompose": lambda text: unicodedata.normalize("NFD", text),
    "punctuation": _removing(r"[\p{P}\p{S}፡]+", " "),
    "spaces": lambda text: " ".join(text.split()),
}
"""Step name, as a language file lists it -> what it does to a text."""

_MOST_ROUNDS = 5


def comparison_key(text: str, steps: Sequence[Step]) -> str:
    """Apply the steps in order, again until nothing changes: a key of a key is the key itself.

    One round is not enough: removing a mark can let two letters compose.
    """
    for _ in range(_MOST_ROUNDS):
        before = text
        for step in steps:
            text = step(text)
        if text == before:
            break
    return text
