from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.language import load_language
from pipeline.seeds.importing import import_sheets
from pipeline.seeds.readers import read_sheet
from pipeline.seeds.spreadsheet import neutralised, restored
from pipeline.seeds.table import read_seeds, write_seeds

CALCULATED = ["=1+1", "-5", "@x", "+1", "\t=1", "\r=1", "＝1+1", "－5", "'=1+1", "''-5", '=HYPERLINK("x")']
PLAIN = ["'tis the season", "007", "None", "a=b", "'", "", "١-٢", "「=」", "ሰላም"]


@pytest.mark.parametrize("cell", CALCULATED)
def test_what_a_spreadsheet_would_calculate_gets_an_apostrophe(cell: str) -> None:
    assert neutralised(cell) == f"'{cell}"
    assert restored(neutralised(cell)) == cell


@pytest.mark.parametrize("cell", PLAIN)
def test_other_texts_stay(cell: str) -> None:
    assert neutralised(cell) == restored(cell) == cell


@given(st.text(st.sampled_from("'=+-@a\t ＝"), max_size=6))
def test_whatever_goes_out_comes_back(cell: str) -> None:
    shown = neutralised(cell)
    assert restored(shown) == cell
    assert shown[:1] not in ("=", "+", "-", "@", "\t", "＝")


def _row(text: str, number: int) -> dict[str, str]:
    return {"proverb_id": f"en-{number}", "text": text, "meaning": f"@meaning {number}", "status": "draft"}


def test_the_seed_table_is_neutralised_in_the_file_only(tmp_path: Path) -> None:
    path = tmp_path / "proverbs.csv"
    write_seeds(path, [_row(text, i) for i, text in enumerate(CALCULATED)])
    for _, cells in read_sheet(path).rows:
        assert cells["text"][0] == cells["meaning"][0] == "'"
    assert [row["text"] for row in read_seeds(path, "en")] == CALCULATED
    assert read_seeds(path, "en")[3]["meaning"] == "@meaning 3"
    # A row that a person typed without an apostrophe is read as it stands.
    path.write_text("proverb_id,text,meaning\nen-1,=1+1,-5\n", encoding="utf-8")
    assert read_seeds(path, "en")[0]["text"] == "=1+1"


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_an_import_restores_what_an_export_neutralised(tmp_path: Path, project: Path, ending: str) -> None:
    texts = ["=1+1 makes two", "-5 is cold", "@x marks it"]
    path = tmp_path / f"seeds{ending}"
    if ending == ".csv":
        lines = [f"{neutralised(text)},{neutralised('-' + text)}" for text in texts]
        path.write_text("text,meaning\n" + "\n".join(lines) + "\n", encoding="utf-8")
    else:
        book = openpyxl.Workbook()
        book.worksheets[0].append(["text", "meaning"])
        for text in texts:
            book.worksheets[0].append([neutralised(text), neutralised("-" + text)])
        book.save(path)
    english = load_language(project / "seeds" / "en" / "language.yaml")
    result = import_sheets([], [read_sheet(path)], {}, english, "merge")
    assert [row["text"] for row in result.rows] == texts
    assert [row["meaning"] for row in result.rows] == ["-" + text for text in texts]
