from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.acquire import AcquireParams, acquire, usable
from pipeline.errors import SeedError
from pipeline.seeds.groups import group_of
from pipeline.seeds.table import COLUMNS
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import language, reasons

ENGLISH = language("en")
WORDS = ["apple", "bread", "candle", "door", "eagle", "field", "garden", "house", "island", "jacket"]


def _seeds(*texts: str, **columns: list[str]) -> list[dict[str, str]]:
    rows = [
        {
            **dict.fromkeys(COLUMNS, ""),
            "proverb_id": f"p{i}",
            "text": text,
            "meaning": f"Meaning {WORDS[i % 10]}",
        }
        for i, text in enumerate(texts)
    ]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


def _run(seeds: list[dict[str, str]], code: str = "en", **params: Any) -> StageResult:
    spoken = ENGLISH if code == "en" else language(code)
    return acquire(seeds, spoken, AcquireParams(**{"least": 4, **params}), None)


def test_every_reason_a_seed_row_is_rejected_for() -> None:
    texts = ["The apple falls", "", " \u200b ", "THE apple, falls!", "سقطت التفاحة", "No sense", *WORDS[:4]]
    meanings = [f"Meaning {i}" for i in range(10)]
    meanings[5] = " "
    result = _run(_seeds(*texts, meaning=meanings))
    assert reasons(result) == {
        "p1": "no_text",
        "p2": "no_text",
        "p3": "duplicate",
        "p4": "wrong_script",
        "p5": "no_meaning",
    }
    numbers = {r.row_id: r.numbers for r in result.rejected}
    assert numbers["p3"]["of"] == "p0"
    assert (numbers["p4"]["script_share"], numbers["p4"]["at_least"]) == (0.0, 0.7)
    assert result.expected == 10 == len(result.rows) + len(result.rejected)


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("ar", "الكتاب خير جليس", "الكتــاب خيرُ جليس"),
        ("ar", "مدينة كبيرة جدا", "ﻣﺪﻳﻨﺔ كبيرة جدا"),
        ("am", "ሰላም ለዓለም ነው", "ሠላም፡ለአለም፡ነው።"),
        ("ja", "アリガトウを忘れるな", "ｱﾘｶﾞﾄｳを忘れるな"),
        ("id", "Air tenang menghanyutkan", "air  TENANG menghanyutkan."),
    ],
)
def test_spellings_of_one_proverb_are_duplicates_in_every_script(code: str, one: str, other: str) -> None:
    filler = {
        "ar": ["الصبر جميل", "العلم نور", "الوقت ذهب", "القناعة كنز"],
        "am": ["ውሃ ሲጠብቁ", "እንጀራ በወጥ", "ዛፍ በሥሩ", "ቤት በጣራ"],
        "ja": ["石の上にも三年", "猿も木から落ちる", "花より団子", "井の中の蛙"],
        "id": ["Sambil menyelam minum air", "Besar pasak", "Ada udang", "Bagai pinang"],
    }[code]
    result = _run(_seeds(one, other, *filler), code)
    assert reasons(result) == {"p1": "duplicate"}
    # The stored text is as it went in.
    assert result.rows[0]["text"] == one


def test_text_cells_stay_what_they_are() -> None:
    cells = ["None", "NA", "null", "007", "=1+1", "'-5", " padded ", "two\nlines"]
    texts = [f"The {word} falls" for word in WORDS[:8]]
    result = _run(_seeds(*texts, meaning=cells))
    assert [row["meaning"] for row in kept_table("acquire", result.rows).to_pylist()] == cells
    # A proverb may be such a word too.
    assert len(_run(_seeds("None", "NA", "null", "Nothing")).rows) == 4


def test_the_english_meaning_stands_in_and_is_marked() -> None:
    result = _run(_seeds(*WORDS[:5], meaning=["", "b", "c", "d", "e"], meaning_en=["stands in"] * 5))
    assert [(row["meaning"], row["meaning_from"]) for row in result.rows[:2]] == [
        ("stands in", "en"),
        ("b", "native"),
    ]
    assert result.facts["meaning_stood_in_by_english"] == 1
    # A cell that says nothing is no meaning, in either column.
    result = _run(_seeds(*WORDS[:6], meaning=["-", "...", "c", "d", "e", "f"], meaning_en=["one", "?"] * 3))
    assert [(row["meaning"], row["meaning_from"]) for row in result.rows[:2]] == [
        ("one", "en"),
        ("c", "native"),
    ]
    assert reasons(result) == {"p1": "no_meaning"}


def test_rows_past_the_limit_stay_unselected() -> None:
    result = _run(_seeds(*WORDS), limit=4)
    assert [row["selected"] for row in result.rows] == [True] * 4 + [False] * 6
    assert result.facts["selected"] == 4


def test_too_few_proverbs_stop_the_build_with_counts() -> None:
    with pytest.raises(SeedError, match="3 seed rows, 3 usable, 3 within the limit; at least 4 are needed"):
        _run(_seeds(*WORDS[:3]))


@given(st.lists(st.sampled_from([*WORDS, "", "The apple", "the APPLE!", "ሰላም"]), min_size=4, max_size=30))
def test_rows_are_conserved_and_no_text_stands_twice(texts: list[str]) -> None:
    rows, rejected = usable(_seeds(*texts), ENGLISH, AcquireParams())
    assert len(rows) + len(rejected) == len(texts)
    assert {row["proverb_id"] for row in rows}.isdisjoint(r.row_id for r in rejected)
    keys = [ENGLISH.key(row["text"]) for row in rows]
    assert len(set(keys)) == len(keys)


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef")))
def test_a_chain_of_variants_is_one_group_even_in_a_circle(links: dict[str, str]) -> None:
    groups = {one: group_of(one, links) for one in "abcdef"}
    assert all(groups[one] == groups[other] for one, other in links.items())
