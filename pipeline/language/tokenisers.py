"""Words of a text and their base forms; punctuation, symbols and emoji are no words."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import regex
from janome.tokenizer import Tokenizer

from pipeline.errors import PrerequisiteError

Tokens = tuple[list[str], list[str]]
"""The words in order, and of each its base form, which overlap is measured on."""

Tokeniser = Callable[[str], Tokens]

SEPARATOR = "\ufdd0"
"""A code point that is no character and stands in no word: words may be joined with it and split again."""

# Soft hyphens, directional marks, word joiners and emoji selectors stand inside words in copied text and are
# no part of them. The zero-width space is not among them: it separates words. Neither are the joiner and
# non-joiner, which are spelling.
_INVISIBLE = re.compile(
    r"[\u00AD\u034F\u061C\u180E\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\u20E3\uFDD0\uFE0E\uFE0F\uFEFF]+"
)
# The regex module's word flag makes \b the default word boundary of Unicode (UAX #29): marks stay with their
# letters, "don't" and "3.14" are one word, "anak-anak" two, the Ethiopic wordspace separates. Numbers such as
# ፲፪, of several signs that are no digits, are kept together besides.
_WORD = regex.compile(r"(?w)[\p{No}\p{Nl}]{2,}|\b(?:[\p{L}\p{N}]|[\p{Pc}\p{M}]+[\p{L}\p{N}]).*?\b")
_HAS_WORD = regex.compile(r"[\p{L}\p{N}]")
_RUN = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_CHARACTER = regex.compile(r"[\p{L}\p{N}]\p{M}*")


def _words(text: str) -> Tokens:
    words = _WORD.findall(_INVISIBLE.sub("", text))
    return words, words


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _janome_tokenizer() -> Any:
    return Tokenizer()


def _janome(text: str) -> Tokens:
    # Its dictionary is full-width: half-width ｱﾘｶﾞﾄｳ and full-width Ａ would be unknown words.
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    # One dictionary for the process, and one user at a time: it is not made for threads.
    with _lock:
        found = list(_janome_tokenizer().tokenize(plain))
    tokens = [token for token in found if _HAS_WORD.search(token.surface)]
    bases = [token.surface if token.base_form == "*" else token.base_form for token in tokens]
    return [token.surface for token in tokens], bases


def _characters(text: str) -> Tokens:
    # The base of a character is its pair with the next one: single characters are shared by chance, so
    # overlap is measured on pairs. The last of a run has no pair, unless it stands alone.
    words: list[str] = []
    bases: list[str] = []
    for run in _RUN.findall(_INVISIBLE.sub("", text)):
        characters = _CHARACTER.findall(run)
        words += characters
        bases += [one + following for one, following in pairwise(characters)] or characters
        bases += [""] * (len(words) - len(bases))
    return words, bases


def _pythainlp(text: str) -> Tokens:
    try:
        from pythainlp.tokenize import word_tokenize
    except ImportError as error:
        raise _missing("pythainlp", "Thai") from error
    return _plain(word_tokenize(_INVISIBLE.sub("", text), keep_whitespace=False))


def _jieba(text: str) -> Tokens:
    try:
        import jieba
    except ImportError as error:
        raise _missing("jieba", "Chinese") from error
    jieba.setLogLevel("WARNING")  # it tells on stderr that it loads its dictionary
    return _plain(jieba.cut(_INVISIBLE.sub("", text)))


def _plain(found: Iterable[str]) -> Tokens:
    words = [word for word in found if _HAS_WORD.search(word)]
    return words, words


def _missing(package: str, language: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"splitting {language} into words needs the package {package}; type: "
        f"pip install 'adage[{language.lower()}]' (or write tokeniser: characters in the language file, "
        "which counts characters instead of words)"
    )


TOKENISERS: dict[str, Tokeniser] = {
    "words": _words,
    "janome": _janome,
    "characters": _characters,
    "pythainlp": _pythainlp,
    "jieba": _jieba,
}
"""Tokeniser name, as a language file gives it -> function."""

TOKENISER_PACKAGES = {name: (name,) for name in ("janome", "pythainlp", "jieba")}
"""Tokeniser -> the packages it needs. The last two come with an extra."""
