from __future__ import annotations

import json
import re
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import SeedError
from pipeline.seeds.readers import read_sheet

CELLS = ["None", "NA", "null", "007", "", "=1+1", 'say "ሰላም", twice', "two\nlines"]


def _write(folder: Path, ending: str) -> Path:
    path = folder / f"seeds{ending}"
    rows = [{"text": cell, "n": str(i)} for i, cell in enumerate(CELLS)]
    if ending in (".csv", ".tsv"):
        mark = "\t" if ending == ".tsv" else ","
        lines = [f'"{cell.replace(chr(34), chr(34) * 2)}"{mark}{i}' for i, cell in enumerate(CELLS)]
        path.write_text("\ufefftext" + mark + "n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    elif ending == ".json":
        path.write_text("\ufeff" + json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    elif ending == ".jsonl":
        path.write_text("\ufeff" + "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif ending == ".xlsx":
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        sheet.append(["text", "n"])
        for i, cell in enumerate(CELLS):
            sheet.append([None, str(i)])
            if cell:
                sheet.cell(row=i + 2, column=1).value = cell
                sheet.cell(row=i + 2, column=1).data_type = "s"
        book.save(path)
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet"])
def test_cells_come_back_as_they_went_in(tmp_path: Path, ending: str) -> None:
    sheet = read_sheet(_write(tmp_path, ending))
    assert sheet.columns == ["text", "n"]
    assert [cells["text"] for _, cells in sheet.rows] == CELLS


def test_numbers_and_dates_in_excel_are_written_out_and_text_is_left_alone(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["text", "n"])
    cells = [7, "007", 7.5, True, date(2024, 2, 29), None, "7"]
    for cell in cells:
        sheet.append([cell, "x"])
    book.save(tmp_path / "a.xlsx")
    read = read_sheet(tmp_path / "a.xlsx")
    assert [c["text"] for _, c in read.rows] == ["7", "007", "7.5", "true", "2024-02-29 00:00:00", "", "7"]


def test_parquet_cells_that_are_no_text(tmp_path: Path) -> None:
    columns = {
        "text": pa.array(["007", None]),
        "bytes": pa.array(["ሰላም".encode(), b"n\xe9"]),
        "day": pa.array([date(2024, 2, 29), None]),
        "inner": pa.array([{"en": "NA"}, {"en": None}]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert read_sheet(tmp_path / "a.parquet").rows == [
        (1, {"text": "007", "bytes": "ሰላም", "day": "2024-02-29", "inner.en": "NA"}),
        (2, {"text": "", "bytes": "n\ufffd", "day": "", "inner.en": ""}),
    ]


def test_a_header_is_read_without_its_outer_blanks_and_without_empty_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\ufeff text ,meaning,,\na,b,,\nc,d,,e\n", encoding="utf-8")
    sheet = read_sheet(path)
    assert sheet.columns == ["text", "meaning"]
    assert sheet.rows == [(2, {"text": "a", "meaning": "b"}), (3, {"text": "c", "meaning": "d"})]
    assert sheet.notes == ["a column without a name was not read; row 3 holds something there"]


def test_nested_json_gets_dotted_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"word": "a", "meaning": {"en": "b", "id": null}, "tags": ["x"]}]', encoding="utf-8")
    sheet = read_sheet(path)
    assert sheet.columns == ["word", "meaning.en", "meaning.id", "tags"]
    assert sheet.rows == [(1, {"word": "a", "meaning.en": "b", "meaning.id": "", "tags": '["x"]'})]


def test_a_torn_last_line_is_dropped_and_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n{"id": "q7", "an', encoding="utf-8")
    sheet = read_sheet(path)
    assert [cells["text"] for _, cells in sheet.rows] == ["a", "b"]
    assert sheet.notes == ['line 3 is torn and was dropped: {"id": "q7", "an']


def test_half_a_character_is_read_as_a_damaged_one(tmp_path: Path) -> None:
    row = r'{"te\udc00xt": "a \ud83d", "tags": ["\ud83d", "\ud83d\ude00"]}'
    for name, written in (("a.json", f"[{row}]"), ("a.jsonl", f"{row}\n")):
        (tmp_path / name).write_text(written, encoding="utf-8")
        [(_, cells)] = read_sheet(tmp_path / name).rows
        assert cells == {"te\ufffdxt": "a \ufffd", "tags": '["\ufffd", "😀"]'}


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml"])
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_a_workbook_with_a_torn_part_is_said_to_be_damaged(tmp_path: Path, part: str, kept: float) -> None:
    whole = zipfile.ZipFile(_write(tmp_path, ".xlsx"))
    with zipfile.ZipFile(tmp_path / "torn.xlsx", "w") as torn:
        for name in whole.namelist():
            data = whole.read(name)
            torn.writestr(name, data[: int(len(data) * kept)] if name == part else data)
    with pytest.raises(SeedError, match=r"torn\.xlsx: is not an Excel workbook, or a damaged one"):
        read_sheet(tmp_path / "torn.xlsx")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv", b"text,meaning\na,b,c\n", "row 2 has 3 cells, the header has 2"),
        ("a.csv", b"text,text\na,b\n", "'text' stands twice"),
        ("a.csv", "text\nné\n".encode("latin-1"), "line 2 is not UTF-8; save the file as UTF-8"),
        # Further than a decoder reads at once.
        ("a.csv", b"text\n" + b"long enough\n" * 9000 + b"n\xe9\n", "line 9002 is not UTF-8"),
        ("a.csv", "text\nné\n".encode("utf-16"), "line 1 is not UTF-8"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"text;meaning\na;b\n", "separated by semicolons where a .csv has commas"),
        ("a.tsv", b"text,meaning\na,b\n", "separated by commas where a .tsv has tabs"),
        ("a.json", b'{"a": 1}', "must hold a list"),
        ("a.json", b'[{"a": 1, "a": 2}]', "'a' stands twice in one object"),
        ("a.jsonl", b'{"a": 1}\n{"b": 1, "b": 2}\n', "line 2: 'b' stands twice in one object"),
        ("a.json", b'[{"a.b": 1, "a": {"b": 2}}]', "row 1: 'a.b' stands twice"),
        ("a.jsonl", b'{"a": 1\n{"a": 2}\n', "line 1 is not JSON"),
        ("a.json", b'[{"a": ' + b"1" * 5000 + b"}]", "cannot be read as JSON: Exceeds the limit"),
        ("a.jsonl", b"[" * 100_000 + b"\n{}\n", "line 1 cannot be read as JSON: maximum recursion depth"),
        ("a.xlsx", b"no workbook", "is not an Excel workbook"),
        ("a.parquet", b"no parquet", "is not a Parquet file"),
        ("a.doc", b"", "cannot read .doc; known: .csv"),
    ],
)
def test_a_bad_file_says_where(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SeedError, match=said) as caught:
        read_sheet(path)
    assert name in str(caught.value)


def _book(folder: Path, *lines: list[Any]) -> tuple[openpyxl.Workbook, Path]:
    book = openpyxl.Workbook()
    for line in lines:
        book.worksheets[0].append(line)
    return book, folder / "book.xlsx"


def _rewritten(path: Path, part: str, old: str, new: str) -> None:
    """Change one part of a workbook: what openpyxl itself never writes, other programs do."""
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name).decode() for name in whole.namelist()}
    assert re.search(old, parts[part])
    with zipfile.ZipFile(path, "w") as changed:
        for name, data in parts.items():
            changed.writestr(name, re.sub(old, new, data) if name == part else data)


def test_a_workbook_that_gives_itself_a_wrong_size_is_read_whole(tmp_path: Path) -> None:
    book, path = _book(tmp_path, ["text", "meaning"], ["a", "b"], ["c", "d"])
    book.save(path)
    _rewritten(path, "xl/worksheets/sheet1.xml", '<dimension ref="[^"]*"', '<dimension ref="A1"')
    sheet = read_sheet(path)
    assert sheet.rows == [(2, {"text": "a", "meaning": "b"}), (3, {"text": "c", "meaning": "d"})]


def test_a_merged_cell_has_its_text_in_every_row_it_spans(tmp_path: Path) -> None:
    book, path = _book(tmp_path, ["text", "meaning"], ["a", "both"], ["b", None], ["c", "own"])
    book.worksheets[0].merge_cells("B2:B3")
    book.save(path)
    assert [cells["meaning"] for _, cells in read_sheet(path).rows] == ["both", "both", "own"]


def test_excel_errors_are_damaged_cells_and_formulas_without_a_result_are_said(tmp_path: Path) -> None:
    book, path = _book(tmp_path, ["text", "meaning"], ["a", "#N/A"], ["=1+1", "=A2"], ["b", "=A2"])
    book.save(path)
    part = "xl/worksheets/sheet1.xml"
    _rewritten(path, part, r'(<c r="B4"[^>]*)>(<f>A2</f>)<v ?/?>(</v>)?', r'\1 t="str">\2<v>result</v>')
    sheet = read_sheet(path)
    assert sheet.rows == [(2, {"text": "a", "meaning": "\ufffd"}), (4, {"text": "b", "meaning": "result"})]
    assert sheet.notes == [
        "1 cells show an error such as #N/A, the first in row 2",
        "2 cells hold a formula that gives nothing, or was never calculated, and were read as empty, the "
        "first in row 3",
    ]


def test_sheets_that_are_not_read_are_said_and_hidden_ones_are_not_the_first(tmp_path: Path) -> None:
    book, path = _book(tmp_path, ["list", "of"], ["old", "words"])
    book.worksheets[0].sheet_state = "hidden"
    for title, cell in (("Proverbs", "a"), ("More", "b")):
        for line in (["text", "meaning"], [cell, "m"]):
            (book[title] if title in book.sheetnames else book.create_sheet(title)).append(line)
    book.create_sheet("Empty")
    book.save(path)
    sheet = read_sheet(path)
    assert sheet.rows == [(2, {"text": "a", "meaning": "m"})]
    assert sheet.notes == ["only sheet 'Proverbs' was read, not 'Sheet', 'More'"]


def test_a_line_end_that_excel_writes_as_a_code_is_a_line_end(tmp_path: Path) -> None:
    book, path = _book(tmp_path, ["text", "meaning"], ["a_x000D_\nb", "_x0041_"])
    book.save(path)
    assert read_sheet(path).rows == [(2, {"text": "a\r\nb", "meaning": "_x0041_"})]


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_empty_lines_are_no_rows_and_columns_without_a_name_are_all_looked_at(
    tmp_path: Path, ending: str
) -> None:
    lines = [["", "", "", ""], ["text", "meaning", "", ""], ["", "", " ", ""], ["a", "b", "e", ""]]
    if ending == ".xlsx":
        book, path = _book(tmp_path, *lines)
        book.save(path)
    else:
        path = tmp_path / "a.csv"
        path.write_text("".join(",".join(line) + "\n" for line in lines) + " \n", encoding="utf-8")
    sheet = read_sheet(path)
    assert sheet.rows == [(4, {"text": "a", "meaning": "b"})]
    assert sheet.notes == ["a column without a name was not read; row 4 holds something there"]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet"])
def test_a_number_that_is_none_is_an_empty_cell(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": ["NaN"], "meaning": pa.array([float("nan")])}), path)
    else:
        row = '{"text": "NaN", "meaning": NaN}'
        path.write_text(f"[{row}]" if ending == ".json" else row, encoding="utf-8")
    assert read_sheet(path).rows == [(1, {"text": "NaN", "meaning": ""})]
