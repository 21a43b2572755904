from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pipeline.language.language import Language, load_language
from pipeline.seeds.importing import import_sheets
from pipeline.seeds.readers import read_sheet
from pipeline.seeds.weak import weak_meanings


@pytest.fixture(scope="module")
def english(project: Path) -> Language:
    return load_language(project / "seeds" / "en" / "language.yaml")


def _row(number: int, text: str, meaning: str, meaning_en: str = "", variant_of: str = "") -> dict[str, str]:
    return {
        "proverb_id": f"en-{number}",
        "text": text,
        "meaning": meaning,
        "meaning_en": meaning_en,
        "variant_of": variant_of,
    }


def _found(english: Language, *rows: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(weak.proverb_id, weak.reason, weak.of) for weak in weak_meanings(rows, english)]


def test_each_weakness_is_named(english: Language) -> None:
    assert _found(
        english,
        _row(1, "Haste makes waste", "who hurries spoils his own work"),
        _row(2, "Time flies", "..."),
        _row(3, "A man is known by his friends", "", "friends tell what a person is like"),
        _row(4, "Still waters run deep", "STILL waters run deep."),
        _row(5, "Every cloud has a silver lining", "so: 'every cloud has a silver lining' in bad times"),
        _row(6, "No pain, no gain", "effort pays off"),
        _row(7, "Look before you leap", "Who hurries spoils his own work!"),
        _row(8, "Easy come, easy go", "-", "what is got without effort is soon lost"),
    ) == [
        ("en-2", "no_meaning", ""),
        ("en-3", "english_stands_in", ""),
        ("en-8", "english_stands_in", ""),
        ("en-4", "equals_proverb", ""),
        ("en-5", "contains_proverb", ""),
        ("en-6", "very_short", ""),
        ("en-7", "same_meaning", "en-1"),
    ]


def test_variants_may_share_a_meaning(english: Language) -> None:
    meaning = "who moves about owns little"
    rows = [_row(1, "A stone gathers no moss", meaning), _row(2, "Stones gather no moss", meaning)]
    assert _found(english, *rows) == [("en-2", "same_meaning", "en-1")]
    rows[1]["variant_of"] = "en-1"
    assert _found(english, *rows) == []
    # Two variants of a third; two proverbs that are variants of nothing are none of each other.
    first = _row(0, "A rolling stone gathers no moss", "another meaning of four words")
    both = [{**row, "variant_of": "en-0"} for row in rows]
    assert _found(english, first, *both) == []
    # As an import links them: each to the one it resembles.
    chain = [rows[0], {**first, "variant_of": "en-1"}, {**rows[1], "variant_of": "en-0"}]
    assert _found(english, *chain) == []


@pytest.mark.realdata
def test_yemeni_explanations(realdata: Path, project: Path) -> None:
    arabic = load_language(project / "seeds" / "ar" / "language.yaml")
    folder = realdata / "ar_yemeni_proverbs"
    sheets = [read_sheet(folder / f"{name}_data.csv") for name in ("Train", "Validation", "Test")]
    rows = import_sheets([], sheets, {"text": "Proverbs", "meaning": "Explanation"}, arabic, "merge").rows
    found = weak_meanings(rows, arabic)
    assert Counter(weak.reason for weak in found) == {
        "contains_proverb": 56,
        "equals_proverb": 2,
        "very_short": 1,
        "same_meaning": 1,
    }
    [junk] = [weak for weak in found if weak.reason == "very_short"]
    assert len(junk.meaning.split()) == 2
