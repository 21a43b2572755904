"""What servers say in place of a reply: it costs its row only or ends the run, and tells no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import PrerequisiteError
from pipeline.llm.interface import Status
from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import stats
from pipeline.llm.transport import Timing
from tests.llm.asks import echo, token_asks, tokens
from tests.llm.conftest import MakeChat
from tests.servers.scripted import ScriptedServer
from tests.servers.stranger import stranger


@pytest.fixture(autouse=True)
def _echo(server: ScriptedServer) -> None:
    server.responders.append(echo)


def test_a_page_in_place_of_every_answer_names_the_address(make_chat: MakeChat) -> None:
    with stranger() as address:
        timing = Timing(call=5, first_call=5, patience=60, tries_broken=3)
        chat = make_chat(protocol="openai", addresses=[address], chat={"timing": timing})
        said = rf"{address} does not answer as .*Open WebUI.*Check its address"
        with pytest.raises(PrerequisiteError, match=said):
            chat.ask(token_asks(12))


@pytest.mark.parametrize("fault", ["filtered", "flagged"])
def test_a_prompt_that_a_filter_refuses_costs_its_row_only(
    server: ScriptedServer, make_chat: MakeChat, fault: str
) -> None:
    server.fail_when("token", fault)
    answers = make_chat(protocol="openai", api_key="sk").ask(token_asks(40))
    assert {a.status for a in answers} == {Status.REFUSED}
    assert len(server.chats) == 40
    assert all("filtered due" in a.why or "was flagged" in a.why for a in answers)


@pytest.mark.parametrize("protocol", ["ollama", "openai"])
def test_without_a_key_no_key_is_refused(server: ScriptedServer, make_chat: MakeChat, protocol: str) -> None:
    server.keys.append("sk-right")
    with pytest.raises(PrerequisiteError, match=r"carry no API key \(HTTP 401: .*\): .* api_key_variable"):
        make_chat(protocol=protocol).ask(token_asks(3))


@pytest.mark.parametrize(
    ("fault", "said"),
    [("quote_key", "upstream broke on"), ("quote_key_late", "HTTP 500"), ("not_http", "is not HTTP")],
)
def test_a_key_that_a_server_quotes_is_not_said(
    server: ScriptedServer, make_chat: MakeChat, ledger_file: Path, fault: str, said: str
) -> None:
    server.fail_when("token", fault)
    timing = Timing(call=5, first_call=5, patience=5, tries_broken=1)
    chat = make_chat(protocol="openai", api_key="sk-secret" * 9, chat={"timing": timing})
    with pytest.raises(PrerequisiteError, match=said) as caught:
        chat.ask(token_asks(3))
    assert "sk-" not in str(caught.value)
    held = b"".join(file.read_bytes() for file in ledger_file.parent.iterdir())
    assert said.encode() in held
    assert b"sk-" not in held


def test_a_server_that_sends_calls_elsewhere_is_not_followed(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.fail_when("token", "moved")
    with pytest.raises(PrerequisiteError, match=r"HTTP 307: to https://elsewhere.example/v1\): give the add"):
        make_chat(protocol="openai").ask(token_asks(3))


def test_an_answer_nested_without_end_costs_its_row_only(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token<3>", "deep")
    answers = make_chat(chat={"timing": Timing(call=0.5, first_call=1, patience=1.5, tries_broken=3)}).ask(
        token_asks(6)
    )
    assert [a.row_id for a in answers if a.status is Status.SERVER_ERROR] == ["row-3"]
    assert "RecursionError" in answers[3].why


def test_what_a_server_breaks_with_can_be_kept_in_every_ledger(
    server: ScriptedServer, make_chat: MakeChat, place: str
) -> None:
    server.fail_when("token<3>", "binary", times=1)
    ledger = Ledger(place)
    assert tokens(make_chat(ledger=ledger).ask(token_asks(6))) == [str(i) for i in range(6)]
    assert stats(ledger).events == {"broken": 1}
