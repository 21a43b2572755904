"""A scripted server, a ledger in a temporary folder, and a chat on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from pipeline.llm.chat import LedgerChat
from pipeline.llm.ledger import Ledger
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_model, openai_model
from pipeline.llm.transport import Timing
from tests.servers.scripted import ScriptedServer

QUICK = Timing(call=5, first_call=10, patience=10, drain=2)


class MakeChat(Protocol):
    def __call__(self, **settings: Any) -> LedgerChat: ...


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def make_chat(server: ScriptedServer, ledger_file: Path) -> MakeChat:
    """A chat on the scripted server; options by name, and protocol, slots, address, timing and the like."""

    def make(
        *,
        protocol: str = "ollama",
        slots: int = 8,
        addresses: list[str] | None = None,
        model: str = "scripted",
        ledger: Ledger | None = None,
        api_key: str | None = None,
        chat: dict[str, Any] | None = None,
        **options: Any,
    ) -> LedgerChat:
        where = addresses or [server.address]
        served = (
            ollama_model("teller", model, where, slots=slots, keep_alive="5m")
            if protocol == "ollama"
            else openai_model("teller", model, where, revision="1", slots=slots, api_key=api_key)
        )
        chosen = ChatOptions(**{"temperature": 0.8, "max_tokens": 400, "num_ctx": 4096, **options})
        return LedgerChat(served, chosen, ledger or Ledger(ledger_file), **{"timing": QUICK, **(chat or {})})

    return make
