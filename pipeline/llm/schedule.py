"""Which server gets the next call: least busy first, a broken one set aside, all away for long is the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from pipeline.errors import PrerequisiteError
from pipeline.llm.endpoints import Endpoint, backoff

_LOOK_AGAIN = 0.2


def no_reply(said: str, why: str) -> PrerequisiteError:
    """The error of calls that got no reply, in the last one's words."""
    return PrerequisiteError(
        f"{said}, the last because: {why}. Check the server and what the profile asks of it, then run the "
        "same command again: all replies that came back are in the ledger"
    )


class Pool:
    """The slots of a model's servers during one ask().

    ``patience_seconds``: how long all servers may be away or busy at a stretch. ``braked`` is asked while
    waiting, so that a user's Ctrl-C is not stuck behind a server that is away.
    """

    def __init__(
        self, endpoints: Sequence[Endpoint], patience_seconds: float, braked: Callable[[], bool]
    ) -> None:
        self.endpoints = endpoints
        self._patience = patience_seconds
        self._braked = braked
        self._changed = asyncio.Event()
        self._away_since: float | None = None
        self._lost_in_a_row = 0
        self._last_error = ""

    @property
    def slots(self) -> int:
        """Calls in flight at most."""
        return sum(endpoint.slots for endpoint in self.endpoints)

    async def take(self) -> Endpoint | None:
        """A free slot, waited for; None when the run is braked meanwhile."""
        while not self._braked():
            now = time.monotonic()
            free = [endpoint for endpoint in self.endpoints if endpoint.free(now)]
            if free:
                # Ties go to the one that has shown that it works.
                chosen = min(free, key=lambda e: (e.in_flight / e.slots, e.failures))
                chosen.in_flight += 1
                return chosen
            self._give_up_when_away(now)
            self._changed.clear()
            # Not wait_for: in Python 3.11 it may swallow the cancelling of a worker, which then calls on.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause(now)):
                    await self._changed.wait()
        return None

    def give_back(self, endpoint: Endpoint) -> None:
        """The call on this slot has ended."""
        endpoint.in_flight -= 1
        self._changed.set()

    def answered(self, endpoint: Endpoint) -> None:
        """The server answered: nothing is away."""
        endpoint.answered()
        self._away_since = None
        self._changed.set()

    def reply_came(self) -> None:
        """An ask got its reply."""
        self._lost_in_a_row = 0

    def failed(self, endpoint: Endpoint, error: str, *, away: bool, retry_after: float | None = None) -> None:
        """The server failed; ``away``: it cannot be reached or is too busy, so patience may help."""
        now = time.monotonic()
        endpoint.set_aside(now, retry_after)
        self._last_error = f"{endpoint.address}: {error}"
        if away and self._away_since is None:
            self._away_since = now

    async def rest(self, failures: int) -> None:
        """Wait before a call that failed by itself is tried again; the server goes on with the others."""
        until = time.monotonic() + backoff(failures)
        while not self._braked() and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOK_AGAIN))

    def lost(self, why: str) -> None:
        """An ask was given up; after many in a row the servers are taken to be broken for good."""
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= max(16, 2 * self.slots):
            raise no_reply(f"{self._lost_in_a_row} calls in a row got no reply", why)

    def _give_up_when_away(self, now: float) -> None:
        gone = [endpoint.gone for endpoint in self.endpoints if endpoint.gone]
        if len(gone) == len(self.endpoints):
            raise PrerequisiteError(
                f"{gone[-1]}. Then run the same command again: all replies that came back are in the ledger"
            )
        if self._away_since is None or now - self._away_since <= self._patience:
            return
        raise PrerequisiteError(
            f"no server answered for {self._patience:.0f} s; last error: {self._last_error}. "
            "Start the server (Ollama: ollama serve), then run the same command again: "
            "all replies that came back are in the ledger"
        )

    def _pause(self, now: float) -> float:
        ends = [endpoint.away_until - now for endpoint in self.endpoints if endpoint.away_until > now]
        return max(0.005, min([_LOOK_AGAIN, *ends]))
