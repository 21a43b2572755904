from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.acquire import AcquireParams, usable
from pipeline.errors import SeedError
from pipeline.language.language import Language, load_language
from pipeline.seeds.importing import Imported, import_sheets
from pipeline.seeds.readers import Sheet, read_sheet
from pipeline.seeds.table import read_seeds, write_seeds
from tests.capr.kit import PROJECT


@pytest.fixture(scope="module")
def japanese(project: Path) -> Language:
    return load_language(project / "seeds" / "ja" / "language.yaml")


@pytest.fixture(scope="module")
def english(project: Path) -> Language:
    return load_language(project / "seeds" / "en" / "language.yaml")


_WRITERS: dict[str, Callable[[Any, Path], object]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t", encoding="utf-8-sig"),
    ".json": lambda frame, path: frame.to_json(path, orient="records"),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def _import(folder: Path, language: Language, *texts: str, conflicts: str = "merge") -> Imported:
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"{i}.csv")
        paths[-1].write_text(text, encoding="utf-8")
    return import_sheets([], [read_sheet(p) for p in paths], {}, language, conflicts)  # type: ignore[arg-type]


def _again(
    folder: Path, language: Language, rows: list[dict[str, str]], text: str, conflicts: str = "merge"
) -> Imported:
    """Import a sheet into a table that has ``rows``."""
    path = folder / "again.csv"
    path.write_text(text, encoding="utf-8")
    return import_sheets(rows, [read_sheet(path)], {}, language, conflicts)  # type: ignore[arg-type]


def test_one_proverb_twice_with_two_meanings(tmp_path: Path, english: Language) -> None:
    text = "text,meaning\nHaste makes waste,One\nOther words here,Two\nhaste makes WASTE.,Three\n"
    merged = _import(tmp_path, english, text)
    assert [row["meaning"] for row in merged.rows] == ["One / Three", "Two"]
    assert merged.rows[0]["source"] == "0.csv row 2; 0.csv row 4"
    assert [(r.row_id, r.reason) for r in merged.rejected] == [("0.csv row 4", "merged")]
    refused = _import(tmp_path, english, text, conflicts="reject")
    assert [row["text"] for row in refused.rows] == ["Other words here"]
    assert [r.numbers["places"] for r in refused.rejected] == [["0.csv row 2", "0.csv row 4"]] * 2


def test_a_duplicate_adds_nothing_and_is_named_across_files(tmp_path: Path, english: Language) -> None:
    result = _import(
        tmp_path, english, "text,meaning\nHaste makes waste,One\n", "text,meaning\nHaste makes waste,one\n"
    )
    assert result.added == 1
    assert [(r.row_id, r.reason) for r in result.rejected] == [("1.csv row 2", "duplicate")]


def test_rows_without_text_or_meaning_are_rejected(tmp_path: Path, english: Language) -> None:
    result = _import(tmp_path, english, 'text,meaning\n"  ",a\nHaste makes waste,\nTime flies,b\n')
    assert [(r.row_id, r.reason) for r in result.rejected] == [
        ("0.csv row 2", "no_text"),
        ("0.csv row 3", "no_meaning"),
    ]
    assert len(result.rows) == 1


PLACEHOLDERS = ["-", "...", "—", "?", "\u200b", "・"]


@pytest.mark.parametrize("nothing", PLACEHOLDERS)
def test_a_cell_that_says_nothing_is_no_meaning(tmp_path: Path, english: Language, nothing: str) -> None:
    text = f"text,meaning,meaning_en\nHaste makes waste,{nothing},One\nTime flies,{nothing},{nothing}\n"
    result = _import(tmp_path, english, text)
    assert [(row["meaning"], row["meaning_en"]) for row in result.rows] == [("", "One")]
    assert result.stood_in == 1
    assert [(r.row_id, r.reason) for r in result.rejected] == [("0.csv row 3", "no_meaning")]
    # Nor does one that stands in the table keep a meaning away.
    placed = [{**result.rows[0], "meaning": nothing}]
    [row] = _again(tmp_path, english, placed, "text,meaning\nHaste makes waste,Two\n", "reject").rows
    assert row["meaning"] == "Two"


JOINED = [
    "sincerity / devotion",
    "devotion / sincerity / devotion",
    "sincerity/devotion",
    "a / b",
    "one",
    " / ",
    "- / one",
]


@pytest.mark.parametrize("conflicts", ["merge", "reject"])
@pytest.mark.parametrize("meaning", JOINED)
def test_importing_a_sheet_again_changes_nothing(
    tmp_path: Path, english: Language, meaning: str, conflicts: str
) -> None:
    text = f"text,meaning,meaning_en,equivalent_en\nTime flies,{meaning},x,{meaning}\n"
    rows = _import(tmp_path, english, text).rows
    for _ in range(3):
        again = _again(tmp_path, english, rows, text, conflicts)
        assert again.rows == rows
        assert (again.merged, [r.reason for r in again.rejected]) == ([], ["duplicate"])


@given(
    st.lists(
        st.lists(st.sampled_from(["one", "two", "Two", "-", "one / two", "three"]), min_size=1).map(
            " / ".join
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_merged_meaning_holds_each_part_once_and_meets_its_sheet_as_known(meanings: list[str]) -> None:
    english = load_language(PROJECT / "seeds" / "en" / "language.yaml")
    lines = [(n, {"text": "Time flies", "meaning": m, "meaning_en": "x"}) for n, m in enumerate(meanings)]
    sheet = Sheet(Path("a.csv"), ["text", "meaning", "meaning_en"], lines)
    [row] = import_sheets([], [sheet], {}, english, "merge").rows
    said = {part for part in map(english.key, " / ".join(meanings).split(" / ")) if part}
    parts = [english.key(part) for part in row["meaning"].split(" / ")]
    assert {part for part in parts if part} == said
    again = import_sheets([row], [sheet], {}, english, "reject")
    assert again.rows == [row]
    assert {r.reason for r in again.rejected} == {"duplicate"}


def test_a_meaning_that_says_more_is_a_conflict_and_one_that_says_less_is_none(
    tmp_path: Path, english: Language
) -> None:
    rows = _import(tmp_path, english, "text,meaning\nTime flies,sincerity\n").rows
    more = "text,meaning\nTime flies,sincerity / devotion\n"
    refused = _again(tmp_path, english, rows, more, "reject")
    assert (refused.rows, [r.reason for r in refused.rejected]) == (rows, ["conflict"])
    merged = _again(tmp_path, english, rows, more, "merge")
    assert merged.rows[0]["meaning"] == "sincerity / devotion"
    less = _again(tmp_path, english, merged.rows, "text,meaning\nTime flies,devotion\n", "reject")
    assert [r.reason for r in less.rejected] == ["duplicate"]


def test_rows_that_contradict_each_other_are_refused_whatever_the_first_leaves_out(
    tmp_path: Path, english: Language
) -> None:
    lines = ["Time flies,,Hours pass", "Time flies,hours are short,", "Time flies,flies are insects,"]
    for order in permutations(lines):
        text = "\n".join(["text,meaning,meaning_en", *order]) + "\n"
        refused = _import(tmp_path, english, text, conflicts="reject")
        assert (refused.rows, [r.reason for r in refused.rejected]) == ([], ["conflict"] * 3)
        merged = _import(tmp_path, english, text)
        assert [r.reason for r in merged.rejected] == ["merged"] * 2
        assert len(merged.rows[0]["meaning"].split(" / ")) == 2


def test_a_reviewed_row_that_gets_a_meaning_is_a_draft_again(tmp_path: Path, english: Language) -> None:
    [row] = _import(tmp_path, english, "text,meaning\nTime flies,Hours pass\n").rows
    reviewed = [{**row, "status": "reviewed"}]
    same = _again(tmp_path, english, reviewed, "text,meaning\nTime flies,HOURS pass\n")
    assert (same.rows, same.reopened) == (reviewed, [])
    for more in ("meaning\nTime flies,Insects", "meaning_en\nTime flies,Insects"):
        changed = _again(tmp_path, english, reviewed, f"text,{more}\n")
        assert changed.rows[0]["status"] == "draft"
        assert changed.reopened == changed.rows
    drafts = _again(tmp_path, english, [row], "text,meaning\nTime flies,Insects\n")
    assert drafts.reopened == []


def test_a_row_with_a_damaged_character_is_rejected(tmp_path: Path, english: Language) -> None:
    path = tmp_path / "a.json"
    rows = [
        {"text": "Time flies \ud83d", "meaning": "One"},
        {"text": "Haste", "meaning": "Two", "x": "\udc00"},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    result = import_sheets([], [read_sheet(path)], {}, english, "merge")
    assert [(r.row_id, r.reason, r.numbers) for r in result.rejected] == [
        ("a.json row 1", "damaged_text", {"text": "Time flies \ufffd"})
    ]
    assert [row["text"] for row in result.rows] == ["Haste"]
    write_seeds(tmp_path / "proverbs.csv", result.rows)


def test_a_close_wording_is_a_variant(tmp_path: Path, english: Language) -> None:
    result = _import(
        tmp_path,
        english,
        "text,meaning\nA stone gathers no moss,a\nA stone gathers no mosses,b\nTime flies,c\n",
    )
    assert result.rows[1]["variant_of"] == result.rows[0]["proverb_id"]
    assert result.rows[2]["variant_of"] == ""


def test_a_missing_column_names_those_found_and_the_map_to_give(tmp_path: Path, english: Language) -> None:
    with pytest.raises(
        SeedError, match=r"no column 'text'\. Columns found: Proverb, Sense\. .*--map text=COLUMN"
    ):
        _import(tmp_path, english, "Proverb,Sense\na,b\n")


@pytest.mark.parametrize(
    ("text", "mapping", "said"),
    [
        ("Proverb,Sense\na,b\n", {"text": "Proverb"}, "no column 'meaning' or 'meaning_en'"),
        ("text,Sense\n", {}, "no column 'meaning' or 'meaning_en'"),
        ("text,Sense\na,b\n", {"meaning": "sense"}, "no column 'sense'"),
        ("text,Sense\na,b\n", {"gloss": "Sense"}, "unknown field; allowed: text, meaning, meaning_en"),
    ],
)
def test_a_header_that_does_not_say_what_is_what(
    tmp_path: Path, english: Language, text: str, mapping: dict[str, str], said: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SeedError) as caught:
        import_sheets([], [read_sheet(path)], mapping, english, "merge")
    assert said in str(caught.value)
    assert "Sense" in str(caught.value) or "gloss" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "typed"),
    [
        ("refra\u0301n", "refr\u00e1n"),
        ("refr\u00e1n", "refra\u0301n"),
        ("\u200f\u0627\u0644\u0645\u062b\u0644", "\u0627\u0644\u0645\u062b\u0644"),
        ('"Proverb\r\nin Oromo"', "Proverb in Oromo"),
        ("Proverb\u00a0text", "Proverb text"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_column_is_found_by_what_one_sees_of_its_name(
    tmp_path: Path, english: Language, header: str, typed: str, ending: str
) -> None:
    path = tmp_path / f"a.{ending}"
    named = header.strip('"')
    path.write_text(
        f"{header},meaning\na b,c\n" if ending == "csv" else json.dumps([{named: "a b", "meaning": "c"}]),
        encoding="utf-8",
        newline="",
    )
    result = import_sheets([], [read_sheet(path)], {"text": typed}, english, "merge")
    assert ([row["text"] for row in result.rows], result.notes) == (["a b"], [])


def test_a_blank_or_a_comma_makes_no_other_proverb_where_words_have_no_blanks(
    tmp_path: Path, english: Language, japanese: Language
) -> None:
    path = tmp_path / "a.csv"
    spellings = ["七転び八起き", "七転び、八起き", "七転び　八起き"]
    path.write_text("text,meaning\n" + "".join(f"{s},m n o\n" for s in spellings), encoding="utf-8")
    result = import_sheets([], [read_sheet(path)], {}, japanese, "merge")
    assert [row["text"] for row in result.rows] == spellings[:1]
    assert [rejection.reason for rejection in result.rejected] == ["duplicate", "duplicate"]
    # The same rows, typed into the table itself.
    rows = [{**result.rows[0], "proverb_id": f"ja-{n}", "text": text} for n, text in enumerate(spellings)]
    kept, rejected = usable(rows, japanese, AcquireParams())
    assert [row["text"] for row in kept] == spellings[:1]
    assert [(r.reason, r.numbers["of"]) for r in rejected] == [("duplicate", "ja-0")] * 2
    assert english.proverb_key("now here") != english.proverb_key("nowhere")


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, english: Language) -> None:
    paths = [tmp_path / folder / "proverbs.csv" for folder in ("north", "south")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("text,meaning\na b,c\n", encoding="utf-8")
    result = import_sheets([], [read_sheet(path) for path in paths], {}, english, "merge")
    [rejection] = result.rejected
    assert (result.rows[0]["source"], rejection.row_id) == (f"{paths[0]} row 2", f"{paths[1]} row 2")


def test_a_workbook_whose_first_sheet_is_not_the_table_says_which_sheets_it_has(
    tmp_path: Path, english: Language
) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["How to fill this in"])
    for line in (["text", "meaning"], ["a", "b"]):
        (book["Proverbs"] if "Proverbs" in book.sheetnames else book.create_sheet("Proverbs")).append(line)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SeedError, match=r"no column 'text'.*; only sheet 'Sheet' was read, not 'Proverbs'"):
        import_sheets([], [read_sheet(tmp_path / "a.xlsx")], {}, english, "merge")


def test_columns_that_are_not_taken_are_said(tmp_path: Path, english: Language) -> None:
    result = _import(tmp_path, english, "text,region,meaning,era\nTime flies,north,b,old\n")
    assert result.notes == ["0.csv: columns not taken: region, era"]


def test_duplicates_conflicts_and_variants_across_files_are_named(tmp_path: Path, english: Language) -> None:
    first = "text,meaning\nHaste makes waste,One\nA stone gathers no moss,a\n"
    second = "text,meaning\nhaste makes waste!,Two\nA stone gathers no mosses,b\nHASTE makes waste,one\n"
    merged = _import(tmp_path, english, first, second)
    assert [(r.row_id, r.reason, r.numbers["places"]) for r in merged.rejected] == [
        (place, "merged", ["0.csv row 2", "1.csv row 2", "1.csv row 4"])
        for place in ("1.csv row 2", "1.csv row 4")
    ]
    assert merged.rows[0]["meaning"] == "One / Two"
    assert [row["variant_of"] for row in merged.rows] == ["", "", merged.rows[1]["proverb_id"]]
    [(later, earlier, similarity)] = merged.variants
    assert (later["source"], earlier["source"]) == ("1.csv row 3", "0.csv row 3")
    assert similarity > 0.9
    refused = _import(tmp_path, english, first, second, conflicts="reject")
    assert [r.reason for r in refused.rejected] == ["conflict"] * 3
    assert [row["text"] for row in refused.rows] == ["A stone gathers no moss", "A stone gathers no mosses"]


def test_a_second_import_meets_the_rows_that_are_there(tmp_path: Path, english: Language) -> None:
    first = _import(tmp_path, english, "text,meaning_en\nHaste makes waste,One\n")
    path = tmp_path / "more.csv"
    path.write_text("text,meaning\nHaste makes waste.,Native\n", encoding="utf-8")
    again = import_sheets(first.rows, [read_sheet(path)], {}, english, "merge")
    [row] = again.rows
    assert (row["meaning"], row["meaning_en"], row["proverb_id"]) == (
        "Native",
        "One",
        first.rows[0]["proverb_id"],
    )
    assert [(r.reason, r.numbers["places"][0]) for r in again.rejected] == [
        ("duplicate", f"proverbs.csv {row['proverb_id']}")
    ]


def test_an_explanation_with_its_proverb_in_it_is_marked(tmp_path: Path, english: Language) -> None:
    text = (
        "text,meaning\nHaste makes waste,Say 'haste makes  WASTE' to a hurried friend\n"
        "A man,Oman lies by the sea\nTime flies,Hours pass\n"
    )
    result = _import(tmp_path, english, text)
    assert result.contains_proverb == 1
    rows, _ = usable(result.rows, english, AcquireParams())
    assert [row["contains_proverb"] for row in rows] == [True, False, False]


TEXTS = ["None", "NA", "null", "007"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet"])
def test_text_comes_through_import_table_and_stage_as_it_went_in(
    tmp_path: Path, english: Language, ending: str
) -> None:
    path = tmp_path / f"seeds{ending}"
    rows = [{"text": f"{t} {i}", "meaning": t, "meaning_en": "NA", "equivalent_en": t, "source": "None"}
            for i, t in enumerate(TEXTS)]  # fmt: skip
    _WRITERS[ending](pd.DataFrame(rows, dtype=str), path)
    result = import_sheets([], [read_sheet(path)], {}, english, "merge")
    table = tmp_path / "proverbs.csv"
    write_seeds(table, result.rows)
    kept, rejected = usable(read_seeds(table, "en"), english, AcquireParams())
    assert rejected == []
    for row, wanted in zip(kept, rows, strict=True):
        assert {name: row[name] for name in wanted} == wanted
        assert row["meaning_from"] == "native"


def test_the_english_meaning_stands_in_and_is_marked(tmp_path: Path, english: Language) -> None:
    result = _import(tmp_path, english, "text,meaning,meaning_en\nTime flies,,Hours pass\nHaste,a b,c d\n")
    assert result.stood_in == 1
    rows, _ = usable(result.rows, english, AcquireParams())
    assert [(row["meaning"], row["meaning_from"]) for row in rows] == [
        ("Hours pass", "en"),
        ("a b", "native"),
    ]


def test_an_id_stays_when_a_typo_is_fixed(tmp_path: Path, english: Language) -> None:
    first = _import(tmp_path, english, "text,meaning\nHaste makes wast,One\n")
    path = tmp_path / "proverbs.csv"
    write_seeds(path, [{**first.rows[0], "text": "Haste makes waste"}])
    [row] = read_seeds(path, "en")
    assert (row["proverb_id"], row["text"]) == (first.rows[0]["proverb_id"], "Haste makes waste")


@pytest.mark.realdata
@pytest.mark.parametrize(("conflicts", "proverbs"), [("merge", 69), ("reject", 68)])
def test_kotowaza(realdata: Path, japanese: Language, conflicts: str, proverbs: int) -> None:
    sheet = read_sheet(realdata / "ja_kotowaza_sepTN" / "kotowaza.json")
    mapping = {"text": "japanese", "meaning_en": "meaning.en", "equivalent_en": "equivalent.en"}
    result = import_sheets([], [sheet], mapping, japanese, conflicts)  # type: ignore[arg-type]
    assert len(result.rows) == result.stood_in == proverbs
    assert len({place for r in result.rejected for place in r.numbers["places"]}) == 2
    assert len(sheet.rows) == 70
    kept, _ = usable(result.rows, japanese, AcquireParams())
    assert all(row["equivalent_en"] and row["meaning_from"] == "en" for row in kept)


@pytest.mark.realdata
def test_yemeni_files_have_every_rejection_named(realdata: Path, project: Path) -> None:
    arabic = load_language(project / "seeds" / "ar" / "language.yaml")
    folder = realdata / "ar_yemeni_proverbs"
    sheets = [read_sheet(folder / f"{name}_data.csv") for name in ("Train", "Validation", "Test")]
    result = import_sheets([], sheets, {"text": "Proverbs", "meaning": "Explanation"}, arabic, "merge")
    assert sum(len(sheet.rows) for sheet in sheets) == 533 == len(result.rows) + len(result.rejected)
    assert all(r.reason in ("merged", "duplicate") and len(r.numbers["places"]) >= 2 for r in result.rejected)
    assert Counter(r.reason for r in result.rejected) == {"merged": 7, "duplicate": 1}
    # 52 repeat it to the letter; by the key the spelling may differ.
    assert result.contains_proverb == 58
    kept, rejected = usable(result.rows, arabic, AcquireParams())
    assert len(kept) + len(rejected) == len(result.rows) == 525
    assert all(r.reason for r in rejected)
