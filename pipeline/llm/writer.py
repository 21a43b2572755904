"""One writer for a ledger: commits all replies that wait together, then hands them on.

A commit is a disk flush of some milliseconds; one for all that came back meanwhile costs hardly more than one
for a single reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
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
        self._draining: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    async def save(self, entry: Entry) -> Reply:
        """Commit a reply; gives back the one the ledger holds. Raises LedgerError when it cannot."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, future))
        self._start()
        return await future

    def event(self, **row: Any) -> None:
        """Note a transport failure (model, key, server, kind, detail); committed with the next replies."""
        self._events.append(row)

    async def __aenter__(self) -> Writer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._start()
        finally:
            self._thread.shutdown()
        if self._failure and error is None:
            raise self._failure

    def _start(self) -> asyncio.Task[None]:
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._drain())
        return self._draining

    async def _drain(self) -> None:
        while self._waiting or self._events:
            batch, self._waiting = self._waiting, []
            events, self._events = self._events, []
            commit = asyncio.get_running_loop().run_in_executor(self._thread, self._commit, batch, events)
            (held,) = await asyncio.gather(commit, return_exceptions=True)
            if isinstance(held, BaseException):
                self._failure = held
            for entry, future in batch:
                if future.done():  # its asker was cancelled; the reply is kept all the same
                    continue
                if isinstance(held, BaseException):
                    future.set_exception(held)
                else:
                    future.set_result(held[entry.key])

    def _commit(self, batch: list[_Waiting], events: list[Mapping[str, Any]]) -> dict[str, Reply]:
        held = self._ledger.add([entry for entry, _ in batch]) if batch else {}
        self._ledger.add_events(events)
        return held
