"""How long a run may go on: limits on calls and hours, and the user's Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import AdageError, CallLimitReached, Interrupted


@dataclass(frozen=True)
class Progress:
    """How far one ask() has come; ``tokens`` were generated now, ``seconds_left`` is None at first."""

    done: int
    total: int
    reused: int
    tokens: int
    seconds_left: float | None


class CallLimits:
    """Shared by all chats of a run: at most ``max_calls`` calls and ``max_hours`` hours from now on."""

    def __init__(self, max_calls: int | None = None, max_hours: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_hours = max_hours
        self._calls = 0
        self._started = time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> str | None:
        """Count one call about to be made; gives back what forbids it, in words, or None."""
        late = self.out_of_time()
        if late:
            return late
        with self._lock:
            if self._max_calls is not None and self._calls >= self._max_calls:
                return f"--max-calls {self._max_calls} reached"
            self._calls += 1
            return None

    def out_of_time(self) -> str | None:
        """That the hours are over, in words, or None."""
        if self._max_hours is None or time.monotonic() - self._started < self._max_hours * 3600:
            return None
        return f"--max-hours {self._max_hours:g} reached"


class Brake:
    """Says when an ask() launches no more calls, and with which error it ends then."""

    def __init__(self, limits: CallLimits | None, stop: threading.Event | None) -> None:
        self._limits = limits or CallLimits()
        self._stop = stop
        self._limit: str | None = None

    def may_call(self) -> bool:
        """True when one more call may be launched; it is counted."""
        if self.interrupted or self._limit:
            return False
        self._limit = self._limits.take()
        return self._limit is None

    @property
    def interrupted(self) -> bool:
        """True once the user asked to stop."""
        return self._stop is not None and self._stop.is_set()

    def error(self, name: str, done: int, total: int) -> AdageError | None:
        """The error of a run that ended with asks left, or None when nothing braked it."""
        left = (
            f"{name}: {done} of {total} answered, {total - done} left. All replies that came back are in the "
            "ledger; run the same command again to go on from here"
        )
        if self.interrupted:
            return Interrupted(f"stopped by the user: {left}")
        if self._limit:
            return CallLimitReached(f"{self._limit}: {left}")
        return None


ProgressCallback = Callable[[Progress], None]
