"""Spanish for the scripted server: the pages add that language, and a build refuses scenarios in another."""

from __future__ import annotations

import json
import re
from collections import defaultdict

from tests.servers.exchange import Asked, plain_responder

_WORDS = """
a y el la de en que los una por con las para como pero cuando ella este todo casa libro mujer hombre
niños calle tarde cerca abuela puerta mañana vecino amigos lluvia trabajo escuela ventana familia
maestra después hermana mercado siempre caminaba compraron hablaban esperaban recordaba biblioteca
vendedores compañeros tranquilamente
"""
_BY_LENGTH: dict[int, list[str]] = defaultdict(list)
for _word in _WORDS.split():
    _BY_LENGTH[len(_word)].append(_word)


def spanish_responder(asked: Asked) -> str | None:
    """For a scenario about Spanish seeds: the plain reply with each word exchanged for one as long."""
    if "Spanish" not in asked.text or "scenario" not in asked.messages[0][1]:
        return None
    reply = json.loads(plain_responder(asked))
    return json.dumps({name: _spanish(value) for name, value in reply.items()}, ensure_ascii=False)


def _spanish(value: object) -> object:
    if isinstance(value, list):
        return [_spanish(part) for part in value]
    return re.sub(r"[a-z]+", _exchanged, value) if isinstance(value, str) else value


def _exchanged(found: re.Match[str]) -> str:
    word = found.group()
    known = _BY_LENGTH.get(len(word)) or [word]
    return known[sum(word.encode()) % len(known)]
