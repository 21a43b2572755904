"""Ctrl-C or a request to end in a build: what is under way is finished and kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flows.screen import Screen

# Ctrl-C, and what `kill`, systemd, a container's stop and a cancelled Prefect run send.
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_interrupt(screen: Screen) -> Iterator[threading.Event]:
    """The first such signal lets the models finish what is under way; a second ends the process at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def interrupt(number: int, frame: Any) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        stop.set()
        screen.say("stopping: waiting for replies that are under way (Ctrl-C again to end at once)")

    for number in _SIGNALS:
        signal.signal(number, interrupt)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
