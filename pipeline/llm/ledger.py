"""The call ledger: every completed reply of every model, committed before it is used.

SQLite in WAL mode with ``synchronous=FULL`` by default; any SQLAlchemy URL where several machines share it.
Replies are answers and are kept for ever; transport failures are events beside them.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError as BadUrl
from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchModuleError, ProgrammingError, SQLAlchemyError

from pipeline.errors import LedgerError, PrerequisiteError
from pipeline.llm.interface import Reply
from pipeline.store.looking import read_only_uri
from pipeline.store.remedies import remedy

VERSION = 1
BUSY_SECONDS = 60.0
"""How long a locked ledger is waited for."""

_CHUNK = 500

metadata = sa.MetaData()
about = sa.Table(
    "adage_ledger",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)
replies = sa.Table(
    "replies",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("row_id", sa.Text, nullable=False),
    sa.Column("sample", sa.Integer, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("thinking", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer),
    sa.Column("completion_tokens", sa.Integer),
    sa.Column("server", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("logprobs", sa.Text),
    sa.Column("time", sa.String(32), nullable=False),
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("server", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)


@dataclass(frozen=True)
class Entry:
    """One reply with its key and what it was for."""

    key: str
    model: str
    row_id: str
    sample: int
    attempt: int
    reply: Reply

    def row(self) -> dict[str, Any]:
        """The table row."""
        reply = self.reply
        return {
            "key": self.key,
            "model": self.model,
            "row_id": self.row_id,
            "sample": self.sample,
            "attempt": self.attempt,
            "content": reply.content,
            "thinking": reply.thinking,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "server": reply.server,
            "seconds": reply.seconds,
            "logprobs": None if reply.logprobs is None else json.dumps(reply.logprobs, ensure_ascii=False),
            "time": now(),
        }


class Ledger:
    """Opens or makes a ledger. ``place``: a file or an SQLAlchemy URL; ``busy_seconds``: patience with locks.

    With ``make`` false a file that is not there is an error. With ``look`` a file where one may not write is
    opened too, for reading only. Safe for several threads and several processes:
    of two replies to one key the first committed one stays. Raises LedgerError, naming the place and what to
    do, for whatever keeps it from being read or written.
    """

    def __init__(
        self, place: str | Path, busy_seconds: float | None = None, *, make: bool = True, look: bool = False
    ) -> None:
        self._file, url = locate(place)
        self.place = str(self._file) if self._file else url.render_as_string(hide_password=True)
        self._busy = BUSY_SECONDS if busy_seconds is None else busy_seconds
        with self._errors("opened"):
            uri = read_only_uri(self._file) if look and self._file else None
            self._engine = self._connect(url, uri)
            if self._file and not self._file.exists():
                if not make:
                    raise LedgerError(
                        f"there is no call ledger at {self.place}: nothing was asked there yet; name another "
                        "root with --root, or the profile whose ledger you mean with --profile"
                    )
                self._make_file(self._file)
            self._check()
            if self._file and not uri:
                _write_ahead(self._engine)

    def known(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The replies held for these keys."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Reply] = {}
        with self.reading() as connection:
            for start in range(0, len(wanted), _CHUNK):
                found.update(_held(connection, wanted[start : start + _CHUNK]))
        return found

    def add(self, entries: Sequence[Entry]) -> dict[str, Reply]:
        """Commit entries in one transaction; gives back what the ledger now holds for each key.

        That is another process's reply where it was first, so that all who ask go on with the same one.
        """
        held = {entry.key: entry.reply for entry in entries}
        return {**held, **self.insert({entry.key: entry.row() for entry in entries})}

    def insert(self, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Reply]:
        """Commit table rows by key in one transaction; gives back the replies that were there before."""
        # In one order everywhere: two writers of the same keys in two orders would lock each other out.
        new, earlier = {key: rows[key] for key in sorted(rows)}, dict[str, Reply]()
        with self._errors("written"):
            while new:
                try:
                    with self._engine.begin() as connection:
                        connection.execute(sa.insert(replies), list(new.values()))
                    break
                except IntegrityError:
                    # Rare: another process asked the same. Only then is a look worth its time.
                    earlier = self.known(rows)
                    left = {key: row for key, row in new.items() if key not in earlier}
                    if len(left) == len(new):
                        raise
                    new = left
        return earlier

    def add_events(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Commit transport failures: model, key, server, kind, detail."""
        if rows:
            with self.writing() as connection:
                connection.execute(sa.insert(events), [{"time": now(), **row} for row in rows])

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection for the ledger's tools that sees one state and keeps nobody from writing."""
        with self._errors("read"), self._reading() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction for the ledger's tools, committed at the end."""
        with self._errors("written"), self._engine.begin() as connection:
            yield connection

    @property
    def file(self) -> Path | None:
        """The SQLite file, None for a server."""
        return self._file

    def close(self) -> None:
        """Give up the connections."""
        self._engine.dispose()

    def _reading(self) -> sa.Connection:
        return self._engine.connect().execution_options(adage_reads=True)

    def _connect(self, url: sa.URL, read_only: str | None = None) -> sa.Engine:
        if not self._file:
            try:
                return sa.create_engine(url, pool_pre_ping=True)
            except ModuleNotFoundError as error:
                raise PrerequisiteError(
                    f"the ledger {self.place} needs the Python package {error.name}: type "
                    "pip install 'adage[postgres]' for PostgreSQL, or install that package"
                ) from error
        settings: dict[str, Any] = {"timeout": self._busy, "check_same_thread": False}
        if read_only:
            engine = sa.create_engine(url, creator=lambda: sqlite3.connect(read_only, uri=True, **settings))
        else:
            engine = sa.create_engine(url, connect_args=settings)
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _make_file(self, file: Path) -> None:
        """Make the tables in a file of another name, then link it: an empty file is never a young ledger."""
        file.parent.mkdir(parents=True, exist_ok=True)
        young = file.with_name(f".{file.name}.{secrets.token_hex(6)}")
        try:
            engine = self._connect(sa.URL.create("sqlite", database=str(young)))
            _write_ahead(engine)
            _make_tables(engine)
            engine.dispose()
            with suppress(FileExistsError):  # another process was first
                os.link(young, file)
        finally:
            for left in (young, Path(f"{young}-wal"), Path(f"{young}-shm")):
                left.unlink(missing_ok=True)

    def _check(self) -> None:
        if self._file and self._file.stat().st_size == 0:
            raise LedgerError(f"the call ledger {self.place} is an empty file: {_unusable(self._file)}")
        with self._reading() as connection:
            tables = set(sa.inspect(connection).get_table_names())
        if about.name not in tables:
            if self._file or tables & {replies.name, events.name}:
                raise LedgerError(
                    f"{self.place} is not a call ledger: name another file or database in the profile"
                )
            # Losing the race to make them leaves them made; what is wrong otherwise shows in the next lines.
            with suppress(IntegrityError, ProgrammingError):
                _make_tables(self._engine)
        with self._reading() as connection:
            versions = list(connection.execute(sa.select(about.c.version)).scalars())
        if versions != [VERSION]:
            raise LedgerError(
                f"the call ledger {self.place} has version {versions}, this adage reads {VERSION}: "
                "use the adage that wrote it to export it, then import the export into a new ledger"
            )

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            raise LedgerError(
                f"the call ledger {self.place} could not be {doing}: {cause}: "
                f"{remedy(cause, _unusable(self._file))}"
            ) from error


def now() -> str:
    """The time as the ledger writes it: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def reply_of(row: Any) -> Reply:
    """The reply in a table row."""
    return Reply(
        content=row.content,
        thinking=row.thinking,
        finish_reason=row.finish_reason,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        server=row.server,
        seconds=row.seconds,
        logprobs=None if row.logprobs is None else json.loads(row.logprobs),
    )


def _held(connection: sa.Connection, keys: list[str]) -> dict[str, Reply]:
    rows = connection.execute(sa.select(replies).where(replies.c.key.in_(keys)))
    return {row.key: reply_of(row) for row in rows}


def locate(place: str | Path) -> tuple[Path | None, sa.URL]:
    """The SQLite file a place names (None for a database server) and its URL."""
    if isinstance(place, Path) or "://" not in place:
        file = Path(place)
        return file, sa.URL.create("sqlite", database=str(file))
    try:
        url = sa.make_url(place)
        dialect = url.get_dialect()
    except (BadUrl, NoSuchModuleError) as error:
        raise LedgerError(
            f"the ledger's URL cannot be used: {error}: give a file, or a URL such as "
            "postgresql+psycopg://user@host/database"
        ) from error
    if dialect.is_async:
        raise LedgerError(
            f"the ledger's URL cannot be used: the driver of {url.drivername} is for asynchronous programs: "
            "write postgresql+psycopg for PostgreSQL"
        )
    if url.get_backend_name() != "sqlite":
        return None, url
    # One in memory would be lost, and where a relative one lies depends on the working folder.
    if not url.database or not Path(url.database).is_absolute():
        raise LedgerError(
            f"the ledger's URL {place} cannot be used: name the SQLite file itself, such as "
            "artifacts/ledger.sqlite, from the root"
        )
    return Path(url.database), url


def _make_tables(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        metadata.create_all(connection)
        if not list(connection.execute(sa.select(about.c.version))):
            connection.execute(sa.insert(about), [{"version": VERSION}])


def _set_up_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    # The driver's own transactions begin too late (at the first insert) to protect a look before it.
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous=FULL")


def _write_ahead(engine: sa.Engine) -> None:
    # It changes the file and stays in it, so it comes after the look whether the file is a ledger at all.
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA journal_mode=WAL")


def _begin_sqlite(connection: sa.Connection) -> None:
    reads = connection.get_execution_options().get("adage_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _unusable(file: Path | None) -> str:
    if file is None:
        return "check that the database server runs and that the URL in the profile is right"
    return f"move {file.name} (and its -wal and -shm files) away or restore a copy of it, then run again"
