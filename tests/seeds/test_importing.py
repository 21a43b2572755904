from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import SeedError
from pipeline.language.language import Language, load_language
from pipeline.seeds.importing import Imported, import_sheets
from pipeline.seeds.readers import read_sheet
from pipeline.seeds.table import read_seeds, write_seeds


@pytest.fixture(scope="module")
def japanese(project: Path) -> Language:
    return load_language(project / "seeds" / "ja" / "language.yaml")


@pytest.fixture(scope="module")
def english(project: Path) -> Language:
    return load_language(project / "seeds" / "en" / "language.yaml")


def _import(folder: Path, language: Language, *texts: str, conflicts: str = "merge") -> Imported:
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"{i}.csv")
        paths[-1].write_text(text, encoding="utf-8")
    return import_sheets([], [read_sheet(p) for p in paths], {}, language, conflicts)  # type: ignore[arg-type]


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
    mapping = {"text": "japanese", "meaning_en": "meaning.en"}
    result = import_sheets([], [sheet], mapping, japanese, conflicts)  # type: ignore[arg-type]
    assert len(result.rows) == result.stood_in == proverbs
    assert len({place for r in result.rejected for place in r.numbers["places"]}) == 2
    assert len(sheet.rows) == 70


@pytest.mark.realdata
def test_yemeni_files_have_every_rejection_named(realdata: Path, project: Path) -> None:
    arabic = load_language(project / "seeds" / "ar" / "language.yaml")
    folder = realdata / "ar_yemeni_proverbs"
    sheets = [read_sheet(folder / f"{name}_data.csv") for name in ("Train", "Validation", "Test")]
    result = import_sheets([], sheets, {"text": "Proverbs", "meaning": "Explanation"}, arabic, "merge")
    assert sum(len(sheet.rows) for sheet in sheets) == 533 == len(result.rows) + len(result.rejected)
    assert all(r.reason in ("merged", "duplicate") and len(r.numbers["places"]) >= 2 for r in result.rejected)
    assert len(result.rejected) >= 3
