"""Ctrl-C in a build: what is under way is finished and kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flows.screen import Screen


@contextmanager
def stop_on_interrupt(screen: Screen) -> Iterator[threading.Event]:
    """Ctrl-C asks the models to finish what is under way; a second one ends the process at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop.set()
        screen.say("stopping: waiting for replies that are under way (Ctrl-C again to end at once)")

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
