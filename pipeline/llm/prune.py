"""Thinning out a ledger: which replies go, how many they are, and their end."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from pipeline.errors import ConfigError
from pipeline.llm.ledger import Ledger, events, replies


@dataclass(frozen=True)
class Pruning:
    """What is to go: what is of a model (its identity begins so) and of before a day (YYYY-MM-DD, UTC)."""

    model: str | None = None
    before: str | None = None

    def __post_init__(self) -> None:
        if self.model is None and self.before is None:
            raise ConfigError("name what to delete: a model, a day before which, or both")
        if self.model is not None and not self.model.strip():
            raise ConfigError(
                f"model {self.model!r} is the beginning of every name: give one of those that adage ledger "
                "stats shows, or a day before which all is to go"
            )

    def of(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """The conditions on a table."""
        wanted: list[sa.ColumnElement[bool]] = []
        if self.model is not None:
            wanted.append(table.c.model.startswith(self.model, autoescape=True))
        if self.before is not None:
            wanted.append(table.c.time < self.before)
        return wanted


def count(ledger: Ledger, pruning: Pruning) -> tuple[int, int]:
    """How many replies and events would go; nothing does."""
    with ledger.reading() as connection:
        found = [
            connection.execute(
                sa.select(sa.func.count()).select_from(table).where(*pruning.of(table))
            ).scalar()
            for table in (replies, events)
        ]
    return int(found[0] or 0), int(found[1] or 0)


def prune(ledger: Ledger, pruning: Pruning) -> tuple[int, int]:
    """Delete replies and events; gives back how many of each went.

    Their calls will be made again when something asks for them. SQLite keeps the freed space in the file and
    fills it again.
    """
    with ledger.writing() as connection:
        gone = [
            connection.execute(sa.delete(table).where(*pruning.of(table))).rowcount
            for table in (replies, events)
        ]
    return gone[0], gone[1]
