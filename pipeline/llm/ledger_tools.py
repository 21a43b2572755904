"""What one does with a ledger besides asking it: look, carry elsewhere, bring in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pipeline.errors import ConfigError, LedgerError
from pipeline.llm.ledger import Ledger, events, replies
from pipeline.store.files import write_atomically

_BATCH = 500
# SQLite's own files beside a database.
_BESIDE = ("", "-wal", "-shm", "-journal")

# What every database can hold in the ledger's columns.
_Count = Annotated[int, Field(ge=0, lt=2**31)]


@dataclass(frozen=True)
class ModelStats:
    """Replies of one model in a ledger; times are ISO 8601, UTC."""

    model: str
    replies: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    first: str
    last: str


@dataclass(frozen=True)
class LedgerStats:
    """What a ledger holds; ``size`` in bytes, None for a database server."""

    place: str
    size: int | None
    models: tuple[ModelStats, ...]
    events: dict[str, int]

    @property
    def replies(self) -> int:
        """Replies of all models."""
        return sum(model.replies for model in self.models)


@dataclass(frozen=True)
class StoredReply:
    """One reply as it stands in a ledger; ``time`` is ISO 8601, UTC."""

    row_id: str
    model: str
    sample: int
    attempt: int
    content: str
    thinking: str
    finish_reason: str
    time: str


@dataclass(frozen=True)
class Imported:
    """Outcome of an import; ``torn`` is the number of a last line cut in the middle, which was dropped."""

    added: int
    already_held: int
    torn: int | None


class _Line(BaseModel):
    """One reply in an export file, one JSON object a line."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    model: str
    row_id: str
    sample: _Count
    attempt: _Count
    content: str
    thinking: str
    finish_reason: str
    prompt_tokens: _Count | None
    completion_tokens: _Count | None
    server: str
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    logprobs: list[Any] | None
    time: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT[0-9:.]+\+00:00$", max_length=32)]


def stats(ledger: Ledger) -> LedgerStats:
    """Count replies by model and events by kind; a damaged SQLite file is a LedgerError."""
    with ledger.reading() as connection:
        if ledger.file:
            found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
            if found != "ok":
                raise LedgerError(
                    f"the call ledger {ledger.place} is damaged ({' '.join(found.split())}): restore a copy "
                    f"of {ledger.file.name} (and its -wal and -shm files), or move it away and pay for its "
                    "replies again"
                )
        c = replies.c
        rows = connection.execute(
            sa.select(
                c.model,
                sa.func.count(),
                sa.func.coalesce(sa.func.sum(c.prompt_tokens), 0),
                sa.func.coalesce(sa.func.sum(c.completion_tokens), 0),
                sa.func.sum(c.seconds),
                sa.func.min(c.time),
                sa.func.max(c.time),
            )
            .group_by(c.model)
            .order_by(c.model)
        ).all()
        kinds = connection.execute(sa.select(events.c.kind, sa.func.count()).group_by(events.c.kind)).all()
    models = tuple(
        ModelStats(row[0], row[1], int(row[2]), int(row[3]), float(row[4]), row[5], row[6]) for row in rows
    )
    size = ledger.file.stat().st_size if ledger.file else None
    return LedgerStats(ledger.place, size, models, dict(sorted(tuple(row) for row in kinds)))


def replies_for(ledger: Ledger, row_ids: Sequence[str]) -> list[StoredReply]:
    """Every reply held for these rows of asks, oldest first, whatever the model and prompt were."""
    found: list[StoredReply] = []
    with ledger.reading() as connection:
        for start in range(0, len(row_ids), _BATCH):
            wanted = replies.c.row_id.in_(row_ids[start : start + _BATCH])
            for row in connection.execute(sa.select(replies).where(wanted)):
                found.append(
                    StoredReply(
                        row.row_id,
                        row.model,
                        row.sample,
                        row.attempt,
                        row.content,
                        row.thinking,
                        row.finish_reason,
                        row.time,
                    )
                )
    return sorted(found, key=lambda reply: (reply.time, reply.row_id, reply.sample, reply.attempt))


def export_ledger(ledger: Ledger, path: Path) -> int:
    """Write every reply as one JSON line, by time and key; gives back how many. The file is never half.

    Raises ConfigError for the ledger's own files: they would be replaced.
    """
    count = 0
    if ledger.file and path.resolve() in {Path(f"{ledger.file.resolve()}{end}") for end in _BESIDE}:
        raise ConfigError(f"{path} belongs to the call ledger itself: give the export a file of its own")

    def write(stream: BinaryIO) -> None:
        nonlocal count
        with ledger.reading() as connection:
            rows = connection.execute(sa.select(replies).order_by(replies.c.time, replies.c.key))
            for row in rows.mappings():
                logprobs = None if row["logprobs"] is None else json.loads(row["logprobs"])
                line = json.dumps({**row, "logprobs": logprobs}, ensure_ascii=False)
                stream.write(line.encode("utf-8") + b"\n")
                count += 1

    write_atomically(path, write)
    return count


def import_ledger(ledger: Ledger, path: Path) -> Imported:
    """Bring in an export; replies the ledger holds already stay as they are.

    A last line that was cut in the middle is dropped and its number told; any other line that is no reply is
    a LedgerError naming it, and then nothing of the file is brought in.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    torn = len(lines) if lines[-1] else None
    rows = list(_checked(path, lines[:-1]))
    if torn:
        try:
            rows += _checked(path, [lines[-1]], torn)
            torn = None  # whole, only its line end is missing
        except LedgerError:
            pass
    added = 0
    for start in range(0, len(rows), _BATCH):
        batch = {row["key"]: row for row in rows[start : start + _BATCH]}
        added += len(batch) - len(ledger.insert(batch))
    return Imported(added, len(rows) - added, torn)


def _checked(path: Path, lines: list[bytes], first: int = 1) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            row = _Line.model_validate_json(line).model_dump()
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(str(part) for part in problem["loc"]) or "the line"
            raise LedgerError(
                f"{path}, line {number}: {field}: {problem['msg']}: no reply that adage ledger export wrote"
            ) from error
        logprobs = row["logprobs"]
        row["logprobs"] = None if logprobs is None else json.dumps(logprobs, ensure_ascii=False)
        yield row
