"""Questions that tests of the model layer ask."""

from __future__ import annotations

import json
from typing import Any

from pipeline.llm.interface import Answer, Ask, Message
from tests.servers.exchange import Asked

ECHO = {
    "type": "object",
    "properties": {"token": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["token", "score"],
    "additionalProperties": False,
}


def token_asks(count: int, **settings: Any) -> list[Ask]:
    """Questions that each want their own token back."""
    return [
        Ask(
            f"row-{i}",
            (Message("system", "Say the token."), Message("user", f"token<{i}>.")),
            ECHO,
            **settings,
        )
        for i in range(count)
    ]


def echo(asked: Asked) -> str:
    """The responder for them; the score depends on the seed."""
    token = asked.last.partition("token<")[2].partition(">")[0]
    return json.dumps({"token": token, "score": asked.rng.randint(1, 5)})


def tokens(answers: list[Answer]) -> list[str | None]:
    """The tokens that came back, None where no answer is ok."""
    return [answer.value["token"] if answer.ok else None for answer in answers]
