"""Tables on disk: Parquet files written whole, with the schema the catalog gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.errors import StageError
from pipeline.store.catalog import REJECTED, SCHEMAS
from pipeline.store.files import canonical_json, write_atomically
from pipeline.store.result import Rejection

# Arrow cuts fractions off, makes numbers of flags and lists of texts without a word, so it is not asked.
_PYTHON: dict[pa.DataType, tuple[type, ...]] = {
    pa.int32(): (int, np.integer),
    pa.float64(): (float, int, np.floating, np.integer),
    pa.string(): (str,),
    pa.bool_(): (bool, np.bool_),
}


def kept_table(stage: str, rows: list[dict[str, Any]]) -> pa.Table:
    """The kept rows of a stage under its schema; a missing, unknown or ill-typed column is an error."""
    schema = SCHEMAS[stage]
    names = set(schema.names)
    for row in rows:
        if set(row) != names:
            raise StageError(
                f"stage {stage}: a row has columns {sorted(row)}, its table has {sorted(names)}: "
                "this is a mistake in the stage"
            )
    for field in schema:
        _check_column(stage, field, (row[field.name] for row in rows))
    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise StageError(f"stage {stage}: a value does not fit the table's schema: {error}") from error


def rejected_table(stage: str, rejected: Iterable[Rejection]) -> pa.Table:
    """The rejected rows of a stage as a table."""
    rows = [
        {
            "stage": stage,
            "row_id": r.row_id,
            "reason": r.reason,
            "numbers": canonical_json(_plain(r.numbers)),
            "raw": r.raw,
        }
        for r in rejected
    ]
    return pa.Table.from_pylist(rows, schema=REJECTED)


def write_table(path: Path, table: pa.Table) -> None:
    """Write one Parquet file atomically; equal tables give equal bytes."""
    write_atomically(path, lambda stream: pq.write_table(table, stream, compression="zstd"))


def read_table(path: Path) -> pa.Table:
    """Read one Parquet file."""
    return pq.read_table(path)


def _check_column(stage: str, field: pa.Field, values: Iterable[Any]) -> None:
    of_lists = pa.types.is_list(field.type)
    types = _PYTHON[field.type.value_type if of_lists else field.type]
    for value in values:
        if not _fits(value, types, of_lists):
            raise StageError(
                f"stage {stage}: column {field.name} of type {field.type} cannot hold {value!r:.80}: this is "
                "a mistake in the stage"
            )


def _fits(value: Any, types: tuple[type, ...], of_lists: bool) -> bool:
    """Whether a value, or every one in a list of them, is of these types; None is, everywhere."""
    if value is None:
        return True
    if of_lists:
        return isinstance(value, list | tuple) and all(_fits(one, types, False) for one in value)
    # To Python a flag is a number.
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def _plain(value: Any) -> Any:
    """JSON-able form of numbers: NaN becomes null, numpy scalars become Python ones."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value
