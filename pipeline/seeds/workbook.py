"""An Excel workbook as lines of text cells: what a person sees in its first sheet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl

_CONTROL = re.compile(r"_x(00[01][0-9A-F])_")
"""A control character as Excel writes it: a line end of Windows within a cell begins with ``_x000D_``."""


def read_workbook(path: Path, text: Callable[[Any], str], damaged: str) -> tuple[list[list[str]], list[str]]:
    """The lines of the first sheet that is not hidden, and notes on what is not in them.

    ``text`` writes a cell's value. A cell that spans rows has its text in each of them and a formula stands
    for its result; an error such as #N/A is ``damaged``.
    """
    book = _load(path)
    shown = next((sheet for sheet in book.worksheets if sheet.sheet_state == "visible"), book.worksheets[0])
    formulas = [(c.row, c.column) for row in shown.rows for c in row if c.data_type == "f"]
    sheet = _load(path, data_only=True)[shown.title] if formulas else shown
    lines = [[damaged if c.data_type == "e" else _read(c.value, text) for c in row] for row in sheet.rows]
    failed = [number for number, cells in enumerate(lines, start=1) for cell in cells if cell == damaged]
    empty = [row for row, column in formulas if not lines[row - 1][column - 1]]
    for span in sheet.merged_cells.ranges:
        for row in range(span.min_row, span.max_row):
            lines[row][span.min_col - 1] = lines[span.min_row - 1][span.min_col - 1]
    others = [
        repr(other.title) for other in book.worksheets if other.title != shown.title and other.max_row > 1
    ]
    return lines, [
        *_note(failed, "show an error such as #N/A"),
        *_note(empty, "hold a formula that gives nothing, or was never calculated, and were read as empty"),
        *([f"only sheet {shown.title!r} was read, not {', '.join(others)}"] if others else []),
    ]


def _load(path: Path, *, data_only: bool = False) -> Any:
    with warnings.catch_warnings():
        # openpyxl tells of styles, rules and extensions that it does not know: they hold no text.
        warnings.simplefilter("ignore")
        # Never read-only: that mode leaves out what lies beyond the size a file gives itself, be it wrong.
        return openpyxl.load_workbook(path, data_only=data_only)


def _read(value: Any, text: Callable[[Any], str]) -> str:
    return _CONTROL.sub(lambda found: chr(int(found[1], 16)), text(value))


def _note(rows: Sequence[int], what: str) -> list[str]:
    return [f"{len(rows)} cells {what}, the first in row {rows[0]}"] if rows else []
