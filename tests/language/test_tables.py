"""What each shipped language must find in exact texts: tests/language/tables/<code>.yaml."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.language.language import Language
from tests.language.shipped import CODES, missing_package, shipped

TABLES = Path(__file__).parent / "tables"

ANSWERS: dict[str, Callable[[Language, Any], Any]] = {
    "tokens": lambda language, text: language.tokenise(text),
    "count": lambda language, text: language.word_count(text),
    "content": lambda language, text: sorted(language.content_words(text)),
    "overlap": lambda language, pair: round(language.overlap(*pair), 4),
    "key": lambda language, text: language.key(text),
    "same": lambda language, pair: language.key(pair[0]) == language.key(pair[1]),
    "differ": lambda language, pair: language.key(pair[0]) != language.key(pair[1]),
    "verdict": lambda language, text: language.identify(text).verdict,
    "sentences": lambda language, text: language.sentences(text),
}
NEEDS_WORDS = {"tokens", "count", "content", "overlap"}

# What no language may get wrong: nothing to read, and what libraries choke on.
EVERYWHERE: list[dict[str, Any]] = [
    {"tokens": "", "is": []},
    {"tokens": "😀 👍🏽 — …!", "is": []},
    {"count": "\u200e\u200f\u202b\ufeff", "is": 0},
    {"content": "?!", "is": []},
    {"key": "", "is": ""},
    {"key": "\u200f…!?😀\ufe0f", "is": ""},
    {"key": "１２ 34", "is": "12 34"},
    {"verdict": "", "is": "undecided"},
    {"verdict": "12345", "is": "undecided"},
    {"verdict": "https://example.com/path?q=word", "is": "undecided"},
    {"verdict": "栈", "is": "undecided"},
    {"verdict": "\u200f😀 3 ٣ ३ 👍🏽", "is": "undecided"},
    {"verdict": "\ud800", "is": "undecided"},
    {"sentences": " ", "is": []},
    {"sentences": "\u200f", "is": ["\u200f"]},
]


def expectations(code: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.safe_load((TABLES / f"{code}.yaml").read_text(encoding="utf-8"))
    return rows


CASES = [
    pytest.param(code, row, id=f"{code}-{number}-{next(iter(row))}")
    for code in CODES
    for number, row in enumerate(expectations(code) + EVERYWHERE)
]


@pytest.mark.parametrize(("code", "row"), CASES)
def test_the_right_answer(code: str, row: dict[str, Any]) -> None:
    language = shipped(code)
    kind, given = next(iter(row.items()))
    missing = missing_package(language)
    if missing and kind in NEEDS_WORDS:
        pytest.skip(f"{code} is split into words by {missing}, which is not installed here")
    expected = row.get("is", True)
    if kind == "content":
        expected = sorted(expected)
    assert ANSWERS[kind](language, given) == expected


@pytest.mark.parametrize("code", CODES)
def test_a_table_has_enough_rows_that_run_without_optional_packages(code: str) -> None:
    rows = expectations(code)
    without = [row for row in rows if next(iter(row)) not in NEEDS_WORDS]
    assert len(without if missing_package(shipped(code)) else rows) >= 15
