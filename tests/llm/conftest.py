"""A scripted server, a ledger in a temporary folder, and a chat on both."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
import sqlalchemy as sa

from pipeline.llm.chat import LedgerChat
from pipeline.llm.ledger import Ledger
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_model, openai_model
from pipeline.llm.transport import Timing
from tests.servers.postgres import cluster
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a throwaway cluster's first database."""
    with cluster() as url:
        yield url


@pytest.fixture
def postgres_ledger(postgres: str) -> str:
    """The URL of a database in which there is nothing yet."""
    name = f"ledger_{secrets.token_hex(6)}"
    engine = sa.create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return sa.make_url(postgres).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "sub" / "ledger.sqlite")
    return str(request.getfixturevalue("postgres_ledger"))


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
