"""What a stage knows of a language model: questions in, checked answers out.

A stage builds a list of :class:`Ask` and hands it to a :class:`Chat`; it gets one :class:`Answer` an ask,
in the same order, whatever happened on the way. Ledger, retries, concurrency and the wire protocol are
behind the interface, so a stage's imports (and so its key) never reach a backend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Status(StrEnum):
    """What came of one reply, or of an ask after its last attempt."""

    OK = "ok"
    INVALID = "invalid"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    THINKING_ONLY = "thinking_only"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    SERVER_ERROR = "server_error"
    PROMPT_TOO_LONG = "prompt_too_long"

    @property
    def lasting(self) -> bool:
        """False for trouble of the servers, which another run may not have; such rows deserve one."""
        return self not in (Status.TIMEOUT, Status.SERVER_ERROR)


@dataclass(frozen=True)
class Message:
    """One chat message; ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True)
class Ask:
    """One question of a stage.

    ``row_id`` names the row it is for (it enters the seed), ``schema`` is the whole JSON schema of the
    reply (None: plain text), ``check`` returns why a schema-valid value will not do, or None, and
    ``sample`` counts wanted repetitions of the same question.
    """

    row_id: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    check: Callable[[Any], str | None] | None = field(default=None, compare=False)
    sample: int = 0


@dataclass(frozen=True)
class Reply:
    """One completed reply of a server, as the ledger holds it."""

    content: str
    thinking: str = ""
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    server: str = ""
    seconds: float = 0.0
    logprobs: Any = None


@dataclass(frozen=True)
class Answer:
    """What came of one ask: ``value`` is the parsed JSON (or the text) when ``status`` is ok, else None.

    ``why`` says what was wrong with the last attempt; ``replies`` holds every raw reply, oldest first.
    ``reused`` is true when no new call was made for it.
    """

    row_id: str
    status: Status
    value: Any = None
    why: str = ""
    replies: tuple[Reply, ...] = ()
    reused: bool = False

    @property
    def ok(self) -> bool:
        """True when ``value`` may be used."""
        return self.status is Status.OK

    @property
    def raw(self) -> str:
        """All raw reply texts, for the table of rejected rows."""
        return "\n---\n".join(r.content or r.thinking for r in self.replies)


class Chat(Protocol):
    """A model with its sampling options, ready to answer a stage."""

    @property
    def name(self) -> str:
        """The model's name as the profile gives it."""
        ...

    @property
    def identity(self) -> str:
        """Digest-based identity of model, options and engine: what decides the answers. Enters stage keys."""
        ...

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        """Answer every ask, in order. Raises only for what stops the run (interrupt, limits, server)."""
        ...
