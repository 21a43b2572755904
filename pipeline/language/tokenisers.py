"""Words of a text. A token is (surface, base form); punctuation and symbols are no words."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import regex
from janome.tokenizer import Tokenizer

from pipeline.errors import PrerequisiteError

Token = tuple[str, str]
Tokeniser = Callable[[str], list[Token]]

# Letters with their marks and digits; joined by apostrophes, joiners and non-joiners inside a word.
# The Ethiopic wordspace ፡ is punctuation, so it separates like a blank.
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’\u200C\u200D\u00AD]+[\p{L}\p{M}\p{N}]+)*")
# Directional marks stand inside words in copied text and are no part of them.
_INVISIBLE = regex.compile(r"[\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]")
_HAS_WORD = regex.compile(r"[\p{L}\p{N}]")


def _words(text: str) -> list[Token]:
    return [(word, word) for word in _WORD.findall(_INVISIBLE.sub("", text)) if _HAS_WORD.search(word)]


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _janome_tokenizer() -> Any:
    return Tokenizer()


def _janome(text: str) -> list[Token]:
    # One dictionary for the process, and one user at a time: Janome's lattice is not meant for threads.
    with _lock:
        tokens = list(_janome_tokenizer().tokenize(_INVISIBLE.sub("", text)))
    return [
        (token.surface, token.base_form if token.base_form != "*" else token.surface)
        for token in tokens
        if _HAS_WORD.search(token.surface)
    ]


def _pythainlp(text: str) -> list[Token]:
    try:
        from pythainlp.tokenize import word_tokenize
    except ImportError as error:
        raise _missing("pythainlp", "Thai") from error
    return [(word, word) for word in word_tokenize(_INVISIBLE.sub("", text)) if _HAS_WORD.search(word)]


def _jieba(text: str) -> list[Token]:
    try:
        import jieba
    except ImportError as error:
        raise _missing("jieba", "Chinese") from error
    return [(word, word) for word in jieba.lcut(_INVISIBLE.sub("", text)) if _HAS_WORD.search(word)]


def _characters(text: str) -> list[Token]:
    return [(c, c) for c in regex.findall(r"\X", _INVISIBLE.sub("", text)) if _HAS_WORD.search(c)]


def _missing(package: str, language: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"splitting {language} into words needs the package {package}; type: pip install {package} "
        "(or set tokeniser: characters in the language file, which counts characters instead of words)"
    )


TOKENISERS: dict[str, Tokeniser] = {
    "words": _words,
    "janome": _janome,
    "pythainlp": _pythainlp,
    "jieba": _jieba,
    "characters": _characters,
}
"""Tokeniser name, as a language file gives it -> function."""
