"""The shipped language files, and what their tests share."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pipeline.language.language import Language, load_language
from pipeline.store.root import Root

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
CODES = Root(SEEDS.parent, SEEDS.parent).languages()
OPTIONAL = ("pythainlp", "jieba")


@cache
def shipped(code: str) -> Language:
    return load_language(SEEDS / code / "language.yaml")


def missing_package(language: Language) -> str:
    """The package that the language's tokeniser needs and this machine lacks, or ""."""
    name = language.spec.tokeniser
    return name if name in OPTIONAL and find_spec(name) is None else ""
