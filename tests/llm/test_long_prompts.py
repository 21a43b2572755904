"""A prompt that does not fit is a status of its own, however a server puts it, and never half an answer."""

from __future__ import annotations

import pytest

from pipeline.llm.interface import Ask, Message, Status
from tests.llm.asks import ECHO, echo, token_asks
from tests.llm.conftest import MakeChat
from tests.servers.scripted import ScriptedServer

PROTOCOLS = ("ollama", "openai")


@pytest.fixture(autouse=True)
def _echo(server: ScriptedServer) -> None:
    server.responders.append(echo)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_prompt_that_is_too_long_is_a_status_however_the_server_puts_it(
    server: ScriptedServer, make_chat: MakeChat, protocol: str
) -> None:
    words = " ".join(f"word{i}" for i in range(700))  # about 1,800 scripted tokens, 1,000 by our guess
    asks = [Ask("long", (Message("user", words),)), *token_asks(1)]
    server.context = 400
    long, short = make_chat(protocol=protocol, num_ctx=1024).ask(asks)
    assert long.status is Status.PROMPT_TOO_LONG
    assert short.ok
    server.requests.clear()
    (never_sent,) = make_chat(protocol=protocol, num_ctx=256).ask(asks[:1])
    assert never_sent.status is Status.PROMPT_TOO_LONG
    assert server.chats == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_prompt_of_which_a_server_kept_only_a_part_is_no_answer(
    server: ScriptedServer, make_chat: MakeChat, protocol: str
) -> None:
    # An older server answers 200 to 4,100 tokens in a window of 4,096, with half of them gone.
    server.fail_when("token<0>", "silent_cut")
    words = " ".join(f"word{i}" for i in range(300))
    asks = [
        Ask(f"row-{i}", (Message("system", words), Message("user", f"token<{i}>.")), ECHO) for i in range(2)
    ]
    cut, whole = make_chat(protocol=protocol).ask(asks)
    assert cut.status is Status.PROMPT_TOO_LONG
    assert cut.value is None
    assert cut.why.startswith("cut by the server: it counted 3 of about ")
    assert len(cut.replies) == 1  # another seed would not help
    assert whole.ok
