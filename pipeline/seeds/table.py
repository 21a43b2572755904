"""`seeds/<lang>/proverbs.csv`: the table people keep, and `splits.csv` beside it."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from pipeline.errors import SeedError
from pipeline.seeds.readers import read_sheet
from pipeline.seeds.spreadsheet import neutralised, restored
from pipeline.store.files import write_text

COLUMNS = (
    "proverb_id",
    "text",
    "meaning",
    "meaning_en",
    "equivalent_en",
    "source",
    "status",
    "variant_of",
    "note",
)
STATUSES = ("draft", "reviewed")
SPLIT_COLUMNS = ("proverb_id", "split", "since")

SeedRow = dict[str, str]


def read_seeds(path: Path, lang: str) -> list[SeedRow]:
    """All rows of a seed table, checked: columns, ids, status, ``variant_of``; cells without outer blanks.

    Raises SeedError naming file, row, column and value.
    """
    if not path.is_file():
        raise SeedError(
            f"{path}: there are no seeds for {lang!r} yet; type: adage seeds import FILE --lang {lang} "
            "--map text=COLUMN --map meaning=COLUMN"
        )
    sheet = read_sheet(path)
    missing = [c for c in ("proverb_id", "text") if c not in sheet.columns]
    unknown = [c for c in sheet.columns if c not in COLUMNS]
    if missing or unknown:
        raise SeedError(
            f"{path}: columns found: {', '.join(sheet.columns)}; missing: {', '.join(missing) or 'none'}; "
            f"unknown: {', '.join(unknown) or 'none'}. To bring in a table with other columns, type: "
            f"adage seeds import FILE --lang {lang} --map text=COLUMN"
        )
    rows = [(number, {c: _cell(cells.get(c, "")) for c in COLUMNS}) for number, cells in sheet.rows]
    ids: dict[str, int] = {}
    for number, row in rows:
        row["status"] = row["status"] or "draft"
        _check(path, number, row, ids)
    for number, row in rows:
        if row["variant_of"] and row["variant_of"] not in ids:
            raise SeedError(
                f"{path}: row {number}, column variant_of: no row has proverb_id {row['variant_of']!r}"
            )
    return [row for _, row in rows]


def _cell(written: str) -> str:
    """Without outer blanks, as an import takes it: in a spreadsheet nobody sees them."""
    return restored(written.strip())


def _check(path: Path, number: int, row: SeedRow, ids: dict[str, int]) -> None:
    identity = row["proverb_id"]
    if not identity or not all(c.isalnum() or c in "-_" for c in identity):
        raise SeedError(
            f"{path}: row {number}, column proverb_id: {identity!r} must be letters, digits, - and _ "
            "(new rows get one from adage seeds import)"
        )
    if identity in ids:
        raise SeedError(
            f"{path}: row {number}, column proverb_id: {identity!r} stands in row {ids[identity]} too"
        )
    if row["status"] not in STATUSES:
        raise SeedError(
            f"{path}: row {number}, column status: {row['status']!r}; allowed: {', '.join(STATUSES)}"
        )
    ids[identity] = number


def write_seeds(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Write the seed table atomically, in the order given."""
    write_text(path, csv_text(COLUMNS, rows))


def read_splits(path: Path) -> list[dict[str, str]]:
    """The frozen splits, [] where none are frozen. SeedError names file, row and column of what is wrong."""
    if not path.is_file():
        return []
    sheet = read_sheet(path)
    if sheet.columns != list(SPLIT_COLUMNS):
        raise SeedError(
            f"{path}: columns must be {', '.join(SPLIT_COLUMNS)}; found: {', '.join(sheet.columns)}"
        )
    rows = [(number, {c: _cell(cell) for c, cell in row.items()}) for number, row in sheet.rows]
    ids: dict[str, int] = {}
    for number, row in rows:
        identity = row["proverb_id"]
        if not identity:
            raise SeedError(
                f"{path}: row {number}, column proverb_id: empty; write the proverb's id, or delete the row"
            )
        if identity in ids:
            raise SeedError(
                f"{path}: row {number}, column proverb_id: {identity!r} stands in row {ids[identity]} too: "
                "a proverb has one split, delete one of the rows"
            )
        ids[identity] = number
        if row["split"] not in ("train", "validation", "test"):
            raise SeedError(
                f"{path}: row {number}, column split: {row['split']!r}; allowed: train, validation, test"
            )
    return [row for _, row in rows]


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Rows as CSV text with LF line ends, for files that people open in spreadsheets.

    A cell that a spreadsheet would calculate ("=1+1", "-5", "@x") is neutralised; whoever reads such a file
    restores it.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    # The csv module leaves a lone carriage return bare, and readers take it for the end of the row.
    quoting = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    for row in rows:
        cells = [neutralised(row.get(c, "")) for c in columns]
        (quoting if any("\r" in cell for cell in cells) else writer).writerow(cells)
    return stream.getvalue()


def mint_id(lang: str, text: str, taken: Container[str]) -> str:
    """A proverb's id, minted once: the language and 8 hex digits of its text's digest, more on a clash."""
    digest = hashlib.sha256(f"{lang}\n{text}".encode()).hexdigest()
    return next(i for n in range(8, 65) if (i := f"{lang}-{digest[:n]}") not in taken)
