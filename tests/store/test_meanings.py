from __future__ import annotations

from pipeline.store.catalog import REJECTED, SCHEMAS
from pipeline.store.meanings import COLUMNS, TABLES


def test_every_table_and_column_is_explained_and_no_other() -> None:
    schemas = {**SCHEMAS, "rejected": REJECTED}
    assert list(TABLES) == list(COLUMNS) == list(schemas)
    assert {name: list(columns) for name, columns in COLUMNS.items()} == {
        name: schema.names for name, schema in schemas.items()
    }
