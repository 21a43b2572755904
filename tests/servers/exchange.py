"""One exchange with a scripted server, free of the protocol it came over."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.values import value_for
from tests.servers.words import script_of, text_of


@dataclass(frozen=True)
class Asked:
    """What decides a scripted reply: messages, schema, seed; nothing else of the call."""

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None
    seed: int | None

    @property
    def text(self) -> str:
        """All message contents."""
        return "\n".join(content for _, content in self.messages)

    @property
    def last(self) -> str:
        """The last message's content."""
        return self.messages[-1][1] if self.messages else ""

    @property
    def rng(self) -> random.Random:
        """A generator that is a function of the question."""
        whole = json.dumps([self.messages, self.schema, self.seed], ensure_ascii=False)
        return random.Random(hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest())


@dataclass(frozen=True)
class Said:
    """A scripted reply."""

    content: str
    thinking: str = ""
    finish: str = "stop"
    prompt_tokens: int | None = None


# A responder gives the content of a reply, or None to leave it to the next one.
Responder = Callable[[Asked], str | None]


def plain_responder(asked: Asked) -> str:
    """A value of the schema as JSON, or words of the question's script."""
    if asked.schema is None:
        return text_of(script_of(asked.last), 20, asked.rng)
    return json.dumps(value_for(asked.schema, asked.last, asked.rng), ensure_ascii=False)


def count_tokens(text: str) -> int:
    """The scripted tokeniser: three characters a token."""
    return len(text) // 3 + 1
