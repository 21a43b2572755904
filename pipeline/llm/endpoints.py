"""Where a model is served: addresses, slots, and how well each is doing."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


def backoff(failures: int) -> float:
    """Seconds to wait after so many failures before: exponential with full jitter."""
    # Jitter spreads the load of many clients; it decides no answer, so it needs no seed.
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures, 10)))


def checked_address(address: str) -> str:
    """``address`` when a server can be called there; ValueError says what it must look like."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{address!r} is not an address: {error}") from error
    whole = parts.scheme in ("http", "https") and parts.hostname and port != 0
    if not whole or parts.query or parts.fragment or any(c.isspace() for c in address):
        raise ValueError(f"{address!r} is not an address such as http://127.0.0.1:11434")
    return address


@dataclass
class Endpoint:
    """One server: address without a trailing slash, its slots, its version for the ledger.

    ``api_key`` goes into a header and nowhere else; it is left out of repr, ledger, logs and manifests.
    A server that is away or busy is set aside, each time longer, and tried again with one call at a time.
    ``answers`` counts calls it answered in any way. ``gone`` says why it will never answer again, "" while it
    may.
    """

    address: str
    slots: int = 4
    server: str = ""
    api_key: str | None = field(default=None, repr=False)
    in_flight: int = 0
    failures: int = 0
    away_until: float = 0.0
    warm: bool = False
    answers: int = 0
    gone: str = ""

    def free(self, now: float) -> bool:
        """True when a call may be sent now."""
        # A cold server loads its model with the first call; one that failed proves itself with one call.
        slots = self.slots if self.warm and not self.failures else 1
        return now >= self.away_until and self.in_flight < slots

    def answered(self) -> None:
        """The server gave an answer, whatever it was."""
        self.warm, self.failures, self.away_until = True, 0, 0.0
        self.answers += 1

    def set_aside(self, now: float, retry_after: float | None) -> None:
        """Leave the server alone for a while: exponential back-off with full jitter, or what it asked for."""
        pause = min(retry_after or 0.0, 10 * _LONGEST_PAUSE)
        # Calls in flight together fail together: that is one failure, not thirty-two.
        if now >= self.away_until:
            pause = max(pause, backoff(self.failures))
            self.failures += 1
        self.away_until = max(self.away_until, now + pause)


@dataclass(frozen=True)
class ServedModel:
    """A model and where it is served.

    ``name`` is what the profile calls it, ``model`` what the server calls it. ``identity`` is digest-based
    and enters every key. ``protocol`` names an entry of PROTOCOLS. ``endpoints`` is called at the first call
    that is really made, so that a server of our own starts only when needed. ``facts`` go to the manifest.
    """

    name: str
    model: str
    identity: str
    protocol: str
    endpoints: Callable[[], Sequence[Endpoint]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    keep_alive: str | None = None
