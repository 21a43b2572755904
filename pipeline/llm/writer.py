"""One writer for a ledger: commits all replies that wait together, then hands them on.

A commit is a disk flush of some milliseconds; one for all that came back meanwhile costs hardly more than one
for a single reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from pipeline.llm.interface import Reply
from pipeline.llm.ledger import Entry, Ledger

_Waiting = tuple[Entry, "asyncio.Future[Reply]"]


class Writer:
    """Writes for one event loop; use it as an async context manager. Leaving it commits all that waits."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[_Waiting] = []
        self._events: list[Mapping[str, Any]] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger-writer")
        self._idle = asyncio.Event()
        self._failure: BaseException | None = None

    async def save(self, entry: Entry) -> Reply:
        """Commit a reply; gives back the one the ledger holds. Raises LedgerError when it cannot."""
        future: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting.append((entry, future))
        if self._idle.is_set():
            self._idle.clear()
            # Not at once: replies that came in the same moment join the commit.
            self._loop.call_soon(self._commit)
        return await future

    def event(self, **row: Any) -> None:
        """Note a transport failure (model, key, server, kind, detail); committed with the next replies."""
        self._events.append(row)

    async def __aenter__(self) -> Writer:
        self._loop = asyncio.get_running_loop()
        self._idle.set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._idle.wait()
            self._commit()
            await self._idle.wait()
        finally:
            self._thread.shutdown()
        if self._failure and error is None:
            raise self._failure

    def _commit(self) -> None:
        """Begin to commit what waits; when that is done, go on with what came meanwhile."""
        if not self._waiting and not self._events:
            self._idle.set()
            return
        self._idle.clear()
        batch, self._waiting = self._waiting, []
        events, self._events = self._events, []
        commit = self._thread.submit(self._write, [entry for entry, _ in batch], events)
        commit.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._hand_on, batch, done))

    def _write(self, entries: list[Entry], events: list[Mapping[str, Any]]) -> dict[str, Reply]:
        held = self._ledger.add(entries)
        self._ledger.add_events(events)
        return held

    def _hand_on(self, batch: list[_Waiting], done: Future[dict[str, Reply]]) -> None:
        failure = done.exception()
        self._failure = self._failure or failure
        for entry, future in batch:
            if future.done():  # its asker was cancelled; the reply is kept all the same
                continue
            if failure:
                future.set_exception(failure)
            else:
                future.set_result(done.result()[entry.key])
        self._commit()
