"""The shipped language files, and what their tests share."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pipeline.language.language import Language, list_languages, load_language

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
CODES = list_languages(SEEDS)
OPTIONAL = ("pythainlp", "jieba")


@cache
def shipped(code: str) -> Language:
    return load_language(SEEDS / code / "language.yaml")


def missing_package(language: Language) -> str:
    """The package that the language's tokeniser needs and this machine lacks, or ""."""
    name = language.spec.tokeniser
    return name if name in OPTIONAL and find_spec(name) is None else ""
