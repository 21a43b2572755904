"""Files people have, read as rows of text cells. What stood in a cell comes back as it went in."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import SeedError
from pipeline.handwritten import readable
from pipeline.seeds.workbook import read_workbook

DAMAGED = "\ufffd"
"""What stands for a character that was damaged before we read it, as in a text cut inside an emoji."""

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Sheet:
    """One file's rows: ``rows`` are (row number as people count, cells); ``notes`` says what was dropped."""

    path: Path
    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]
    notes: list[str] = field(default_factory=list)


def read_sheet(path: Path) -> Sheet:
    """Read a CSV, TSV, JSON, JSONL, XLSX or Parquet file; nested JSON columns are named ``outer.inner``.

    Half a character, which JSON can write (``\\ud83d``) and no file can hold, and bytes of a Parquet cell
    that are no UTF-8 are read as ``DAMAGED``. Raises SeedError naming file and row when the file is missing,
    of another kind, not UTF-8 or ill-formed.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise SeedError(
            f"{path}: cannot read {path.suffix or 'a file without ending'}; known: {', '.join(_READERS)}"
        )
    with readable(path, SeedError):
        sheet = reader(path)
    if not sheet.columns:
        raise SeedError(f"{path}: the file is empty")
    return sheet


def _delimited(delimiter: str) -> Callable[[Path], Sheet]:
    def read(path: Path) -> Sheet:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = csv.reader(stream, delimiter=delimiter, strict=True)
            # Where a spreadsheet has an empty row, a line of separators stands.
            filled = (
                (number, cells) for number, cells in enumerate(lines, start=1) if "".join(cells).strip()
            )
            try:
                _, header = next(filled, (1, []))
                _check_separator(path, _distinct(path, header), delimiter)
                rows = [(number, _as_wide(path, number, cells, len(header))) for number, cells in filled]
            except csv.Error as error:
                raise SeedError(f"{path}: line {lines.line_num}: {error}") from error
        return _named(path, header, rows, [])

    return read


def _as_wide(path: Path, number: int, cells: list[str], width: int) -> list[str]:
    if len(cells) != width:
        raise SeedError(
            f"{path}: row {number} has {len(cells)} cells, the header has {width}; "
            "put cells that hold the separator or a line break between double quotes"
        )
    return cells


def _check_separator(path: Path, columns: Sequence[str], delimiter: str) -> None:
    """A header that is one cell with other separators in it: spreadsheets of many countries write ``;``."""
    other = next((mark for mark in (";", "\t", ",") if mark != delimiter and mark in "".join(columns)), None)
    if len(columns) == 1 and other:
        names = {";": "semicolons", "\t": "tabs", ",": "commas"}
        raise SeedError(
            f"{path}: the header {columns[0]!r} is one column, separated by {names[other]} where a "
            f"{path.suffix} has {names[delimiter]}: save it as XLSX or with {names[delimiter]}"
        )


class _DoubledName(ValueError):
    """One object has the same name twice: one of the two values would be lost."""


def _json(path: Path) -> Sheet:
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise SeedError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from error
    except _DoubledName as error:
        raise SeedError(f"{path}: {error}; rename one") from error
    except (ValueError, RecursionError) as error:
        raise SeedError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(data, list):
        raise SeedError(f"{path}: must hold a list of objects, holds {type(data).__name__}")
    return _objects(path, list(enumerate(data, start=1)), [])


def _jsonl(path: Path) -> Sheet:
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    found: list[tuple[int, Any]] = []
    notes: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append((number, json.loads(line, object_pairs_hook=_once)))
        except json.JSONDecodeError as error:
            if number != len(lines):
                raise SeedError(f"{path}: line {number} is not JSON: {error.msg}") from error
            # A file that ends without a line end was cut while it was written: its last line is no row.
            notes.append(f"line {number} is torn and was dropped: {line[:60]}")
        except _DoubledName as error:
            raise SeedError(f"{path}: line {number}: {error}; rename one") from error
        except (ValueError, RecursionError) as error:
            raise SeedError(f"{path}: line {number} cannot be read as JSON: {error}") from error
    return _objects(path, found, notes)


def _objects(path: Path, found: list[tuple[int, Any]], notes: list[str]) -> Sheet:
    rows: list[tuple[int, dict[str, str]]] = []
    columns: dict[str, None] = {}
    for number, value in found:
        if not isinstance(value, dict):
            raise SeedError(f"{path}: row {number} is {type(value).__name__}, must be an object")
        try:
            cells = _once(list(_flat(value, "")))
        except _DoubledName as error:
            raise SeedError(f"{path}: row {number}: {error}; rename one") from error
        columns.update(dict.fromkeys(cells))
        rows.append((number, cells))
    return Sheet(
        path, list(columns), [(n, {c: cells.get(c, "") for c in columns}) for n, cells in rows], notes
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _DoubledName(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return found


def _flat(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{prefix}{name}.")
        else:
            yield _HALF.sub(DAMAGED, f"{prefix}{name}"), _HALF.sub(DAMAGED, _cell(inner))


def _cell(value: Any) -> str:
    """A cell as text. Text stays what it is: only a cell that is no text at all is written out."""
    # pandas writes NaN, the only value unequal to itself, where a cell is empty.
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=_cell)
    # Dates, times and decimals of Excel and Parquet.
    return str(value)


def _xlsx(path: Path) -> Sheet:
    try:
        lines, notes = read_workbook(path, _cell, DAMAGED)
    except OSError:
        raise
    # openpyxl lets through whatever its parsers raise on a torn file.
    except Exception as error:
        raise SeedError(
            f"{path}: is not an Excel workbook, or a damaged one: {error}; open it in a spreadsheet and save "
            "it anew"
        ) from error
    filled = [(number, cells) for number, cells in enumerate(lines, start=1) if "".join(cells).strip()]
    header = filled[0][1] if filled else []
    return _named(path, header, filled[1:], notes)


def _parquet(path: Path) -> Sheet:
    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        raise SeedError(f"{path}: is not a Parquet file: {error}") from error
    _distinct(path, table.column_names)
    return _objects(path, list(enumerate(table.to_pylist(), start=1)), [])


def _distinct(path: Path, columns: Sequence[str]) -> list[str]:
    """The names without outer blanks; SeedError where one stands twice."""
    names = [name.strip() for name in columns]
    doubled = sorted({name for name in names if name and names.count(name) > 1})
    if doubled:
        raise SeedError(f"{path}: column {doubled[0]!r} stands twice in the header; rename one")
    return names


def _named(
    path: Path, header: Sequence[str], rows: Sequence[tuple[int, list[str]]], notes: list[str]
) -> Sheet:
    """Rows under the names in ``header``. Spreadsheets save columns without a name: text there is said."""
    columns = _distinct(path, header)
    named = [place for place, name in enumerate(columns) if name]
    lost = [
        number for number, cells in rows if any(c for c, name in zip(cells, columns, strict=True) if not name)
    ]
    if lost:
        notes = [*notes, f"a column without a name was not read; row {lost[0]} holds something there"]
    return Sheet(
        path,
        [columns[place] for place in named],
        [(number, {columns[place]: cells[place] for place in named}) for number, cells in rows],
        notes,
    )


_READERS: dict[str, Callable[[Path], Sheet]] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".json": _json,
    ".jsonl": _jsonl,
    ".xlsx": _xlsx,
    ".parquet": _parquet,
}
