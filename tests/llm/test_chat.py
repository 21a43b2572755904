from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pipeline.errors import CallLimitReached, ConfigError, Interrupted, PrerequisiteError
from pipeline.llm.interface import Ask, Message, Status
from pipeline.llm.ledger import Ledger
from pipeline.llm.limits import CallLimits, Progress
from pipeline.llm.request import SEED_AT_ZERO
from tests.llm.asks import ECHO, echo, token_asks, tokens
from tests.llm.conftest import MakeChat
from tests.servers.scripted import ScriptedServer, digest_of

PROTOCOLS = ("ollama", "openai")


@pytest.fixture(autouse=True)
def _echo(server: ScriptedServer) -> None:
    server.responders.append(echo)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_ask_gets_its_own_answer_in_order(
    server: ScriptedServer, make_chat: MakeChat, protocol: str
) -> None:
    server.delay = 0.05
    answers = make_chat(protocol=protocol, slots=16).ask(token_asks(60))
    assert tokens(answers) == [str(i) for i in range(60)]
    assert [a.row_id for a in answers] == [f"row-{i}" for i in range(60)]
    assert not any(a.reused for a in answers)
    assert 8 <= server.busiest <= 16


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_second_run_makes_no_call_and_gives_the_same(
    server: ScriptedServer, make_chat: MakeChat, protocol: str
) -> None:
    first = make_chat(protocol=protocol).ask(token_asks(20))
    server.requests.clear()
    chat = make_chat(protocol=protocol)
    second = chat.ask(token_asks(20))
    assert server.chats == []
    assert [a.value for a in second] == [a.value for a in first]
    assert [a.replies for a in second] == [a.replies for a in first]
    assert all(a.reused for a in second)
    assert (chat.counts.made, chat.counts.reused) == (0, 20)


def test_both_protocols_get_the_same_answers(make_chat: MakeChat) -> None:
    values = [[a.value for a in make_chat(protocol=p).ask(token_asks(20))] for p in PROTOCOLS]
    assert values[0] == values[1]


def test_the_exact_ollama_body(server: ScriptedServer, make_chat: MakeChat) -> None:
    chat = make_chat(top_p=0.9, think=False, stop=("END",), run_seed=7)
    chat.ask(token_asks(1))
    (call,) = server.chats
    seed = call.body["options"].pop("seed")
    assert 0 <= seed < 2**31
    assert call.path == "/api/chat"
    assert call.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Say the token."},
            {"role": "user", "content": "token<0>."},
        ],
        "stream": False,
        "truncate": False,
        "shift": False,
        "format": ECHO,
        "think": False,
        "keep_alive": "5m",
        "options": {"temperature": 0.8, "top_p": 0.9, "num_ctx": 4096, "num_predict": 400, "stop": ["END"]},
    }


def test_the_exact_openai_body(server: ScriptedServer, make_chat: MakeChat) -> None:
    make_chat(protocol="openai", top_k=40, think=False, logprobs=True, top_logprobs=2).ask(token_asks(1))
    (call,) = server.chats
    assert 0 <= call.body.pop("seed") < 2**31
    assert call.path == "/v1/chat/completions"
    assert call.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Say the token."},
            {"role": "user", "content": "token<0>."},
        ],
        "stream": False,
        "temperature": 0.8,
        "top_k": 40,
        "max_tokens": 400,
        "logprobs": True,
        "top_logprobs": 2,
        "chat_template_kwargs": {"enable_thinking": False},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": ECHO},
        },
    }


def test_seeds_follow_run_seed_row_sample_and_attempt(server: ScriptedServer, make_chat: MakeChat) -> None:
    def seeds(**settings: int) -> list[int]:
        server.requests.clear()
        make_chat(**settings).ask([Ask("r", (Message("user", "token<1>"),), ECHO, sample=s) for s in (0, 1)])
        return [call.body["options"]["seed"] for call in server.chats]

    first = seeds(run_seed=1)
    assert len(set(first)) == 2
    assert not set(first) & set(seeds(run_seed=2))
    server.fail_next("cut")
    assert seeds(run_seed=1, max_tokens=401)[0] in first
    assert len(server.chats) == 3


def test_at_temperature_zero_one_seed_and_equal_questions_share_a_call(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    asks = [Ask(f"row-{i}", (Message("user", "token<same>"),), ECHO) for i in range(5)]
    chat = make_chat(temperature=0)
    answers = chat.ask(asks)
    assert tokens(answers) == ["same"] * 5
    assert [call.body["options"]["seed"] for call in server.chats] == [SEED_AT_ZERO]
    assert (chat.counts.made, chat.counts.reused) == (1, 4)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("cut", Status.TRUNCATED),
        ("empty", Status.EMPTY),
        ("thinking", Status.THINKING_ONLY),
        ("open_think", Status.THINKING_ONLY),
        ("language", Status.INVALID),
        ("refuse", Status.REFUSED),
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_unusable_reply_is_asked_again_then_quarantined_with_every_raw_reply(
    server: ScriptedServer, make_chat: MakeChat, fault: str, status: Status, protocol: str
) -> None:
    asks = token_asks(2)
    server.fail_when("token<0>", fault, times=1)
    server.fail_when("token<1>", fault)
    mended, lost = make_chat(protocol=protocol).ask(asks)
    assert mended.ok
    assert mended.value["token"] == "0"
    assert len(mended.replies) == 2
    assert lost.status is status
    assert lost.value is None
    assert lost.why
    assert len(lost.replies) == 3
    seeds = {call.body.get("seed", call.body.get("options", {}).get("seed")) for call in server.chats}
    assert len(seeds) == 5


def test_what_was_asked_again_is_replayed_too(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token<1>", "cut", times=1)
    server.fail_when("token<2>", "language")
    first = make_chat().ask(token_asks(4))
    assert [len(answer.replies) for answer in first] == [1, 2, 3, 1]
    server.requests.clear()
    chat = make_chat()
    second = chat.ask(token_asks(4))
    assert server.chats == []
    assert [(a.status, a.value, a.why, a.replies) for a in second] == [
        (a.status, a.value, a.why, a.replies) for a in first
    ]
    assert chat.counts.reused == 7
    assert chat.calls_needed(token_asks(6)) == 2
    assert (chat.counts.made, chat.counts.reused) == (0, 7)


def test_an_ask_whose_second_attempt_is_missing_goes_on_there(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.fail_when("token<0>", "language", times=1)
    with pytest.raises(CallLimitReached):
        make_chat(slots=1, chat={"limits": CallLimits(max_calls=1)}).ask(token_asks(1))
    chat = make_chat(slots=1)
    (answer,) = chat.ask(token_asks(1))
    assert answer.ok
    assert (chat.counts.made, chat.counts.reused) == (1, 1)
    assert len(server.chats) == 2


def test_the_budget_grows_only_when_it_was_used_up(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_next("cut", "thinking", "cut")
    make_chat(max_tokens=100, num_ctx=350, max_attempts=4).ask(token_asks(1))
    assert [c.body["options"]["num_predict"] for c in server.chats] == [100, 200, 350, 350]
    server.requests.clear()
    server.fail_next("language")
    make_chat(max_tokens=101).ask(token_asks(1))
    assert [c.body["options"]["num_predict"] for c in server.chats] == [101, 101]


def test_at_temperature_zero_only_a_larger_budget_is_tried(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.fail_next("language")
    (invalid,) = make_chat(temperature=0).ask(token_asks(1))
    assert (invalid.status, len(invalid.replies)) == (Status.INVALID, 1)
    server.fail_next("cut")
    (mended,) = make_chat(temperature=0, max_tokens=300).ask(token_asks(1))
    assert (mended.status, len(mended.replies)) == (Status.OK, 2)


def test_the_check_of_a_stage_counts_like_the_schema(server: ScriptedServer, make_chat: MakeChat) -> None:
    asks = token_asks(1, check=lambda value: f"{value['token']} will not do")
    (answer,) = make_chat().ask(asks)
    assert (answer.status, answer.why, len(answer.replies)) == (Status.INVALID, "0 will not do", 3)


def test_endless_blanks_and_thinking_in_tags_are_read(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_next("blanks", "think_tags")
    chat = make_chat(slots=1)
    assert tokens(chat.ask(token_asks(2))) == ["0", "1"]
    assert len(server.chats) == 2
    assert chat.seen["thinking"] == {"asked": None, "effective": True, "replies_with": 1}


def test_blanks_in_the_thinking_field_are_no_thinking(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token", "blank_thinking")
    chat = make_chat(protocol="openai", think=False)
    chat.ask(token_asks(2))
    assert chat.seen["thinking"] == {"asked": False, "effective": False, "replies_with": 0}


def test_half_a_character_in_a_reply_is_kept_as_a_mark(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token<0>", "surrogate")
    (answer,) = make_chat().ask(token_asks(1))
    assert answer.status is Status.INVALID
    assert answer.replies[0].content == '{"a": "\ufffd"}'


def test_logprobs_that_a_server_cannot_give_are_said_to_be_unsupported(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    with_them = make_chat(logprobs=True)
    (answer,) = with_them.ask(token_asks(1))
    assert answer.replies[0].logprobs[0] == {"token": '{"t', "logprob": -0.5, "top": []}
    assert with_them.seen["logprobs"] == "given"
    server.logprobs = False
    without = make_chat(logprobs=True, run_seed=2)
    (answer,) = without.ask(token_asks(1))
    assert answer.ok
    assert answer.replies[0].logprobs is None
    assert without.seen["logprobs"].startswith("unsupported by this server")


def test_a_missing_model_says_what_to_type(make_chat: MakeChat, server: ScriptedServer) -> None:
    with pytest.raises(PrerequisiteError, match="ollama pull gemma9"):
        make_chat(model="gemma9")
    chat = make_chat()
    server.models.remove("scripted")
    with pytest.raises(PrerequisiteError, match="ollama pull scripted"):
        chat.ask(token_asks(3))


def test_thinking_that_a_model_cannot_do_stops_the_run(make_chat: MakeChat) -> None:
    with pytest.raises(ConfigError, match="does not support thinking"):
        make_chat(think=True).ask(token_asks(3))


def test_a_dangling_reference_fails_before_any_call(make_chat: MakeChat, server: ScriptedServer) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}
    with pytest.raises(ConfigError, match=r"#/\$defs/A"):
        make_chat().ask([Ask("r", (Message("user", "x"),), schema)])
    assert server.chats == []
    whole = {**schema, "$defs": {"A": {"type": "integer", "minimum": 3, "maximum": 3}}}
    server.responders.clear()
    (answer,) = make_chat().ask([Ask("r", (Message("user", "x"),), whole)])
    assert answer.value == {"a": 3}
    assert server.chats[0].body["format"] == whole


def test_another_model_reuses_nothing(make_chat: MakeChat, server: ScriptedServer) -> None:
    make_chat().ask(token_asks(3))
    other = make_chat(model="judge-a")
    other.ask(token_asks(3))
    assert other.counts.reused == 0
    assert digest_of("judge-a") in other.identity


def test_limits_stop_cleanly_and_a_next_run_goes_on(make_chat: MakeChat, server: ScriptedServer) -> None:
    limits = CallLimits(max_calls=7)
    with pytest.raises(CallLimitReached, match=r"--max-calls 7 reached: teller: 7 of 20 answered, 13 left"):
        make_chat(chat={"limits": limits}).ask(token_asks(20))
    assert len(server.chats) == 7
    with pytest.raises(CallLimitReached):
        make_chat(chat={"limits": limits}).ask(token_asks(20))
    chat = make_chat(chat={"limits": CallLimits(max_calls=13)})
    assert tokens(chat.ask(token_asks(20))) == [str(i) for i in range(20)]
    assert (chat.counts.made, chat.counts.reused) == (13, 7)
    with pytest.raises(CallLimitReached, match="--max-hours 0 reached"):
        make_chat(chat={"limits": CallLimits(max_hours=0)}).ask(token_asks(21))


def test_a_stop_keeps_what_comes_back_and_says_what_is_left(
    make_chat: MakeChat, server: ScriptedServer, ledger_file: Path
) -> None:
    server.delay = 0.05
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done >= 10:
            stop.set()

    with pytest.raises(Interrupted, match=r"\d+ of 400 answered, \d+ left") as caught:
        make_chat(chat={"stop": stop, "progress": watch}).ask(token_asks(400))
    assert caught.value.exit_code == 130
    made = len(server.chats)
    server.requests.clear()
    assert tokens(make_chat().ask(token_asks(400))) == [str(i) for i in range(400)]
    assert made + len(server.chats) == 400


def test_progress_counts_and_tells_the_time_left(make_chat: MakeChat, server: ScriptedServer) -> None:
    server.delay = 0.02
    make_chat().ask(token_asks(10))
    seen: list[Progress] = []
    make_chat(slots=2, chat={"progress": seen.append}).ask(token_asks(60))
    assert seen[-1].done == seen[-1].total == 60
    assert seen[-1].reused == 10
    assert seen[-1].seconds_left == 0
    assert seen[-1].tokens > 0
    assert any(p.seconds_left for p in seen[:-1])


def test_no_key_reaches_ledger_or_message(
    server: ScriptedServer, make_chat: MakeChat, ledger_file: Path
) -> None:
    server.keys.append("sk-right-one")
    chat = make_chat(protocol="openai", api_key="sk-right-one")
    chat.ask(token_asks(2))
    assert server.chats[0].headers["Authorization"] == "Bearer sk-right-one"
    assert "sk-right-one" not in f"{chat.facts} {chat.identity}"
    wrong = make_chat(protocol="openai", api_key="sk-wrong-one", run_seed=2)
    with pytest.raises(PrerequisiteError, match="refuses the API key") as caught:
        wrong.ask(token_asks(2))
    assert "sk-wrong-one" not in str(caught.value)
    Ledger(ledger_file).close()
    held = b"".join(file.read_bytes() for file in ledger_file.parent.iterdir())
    assert b"invalid API key" in held
    assert b"sk-right-one" not in held
    assert b"sk-wrong-one" not in held


def test_an_empty_list_of_asks_needs_no_server(server: ScriptedServer, make_chat: MakeChat) -> None:
    chat = make_chat()
    server.stop()
    assert chat.ask([]) == []
    server.start()


def test_texts_without_a_schema(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.responders.insert(0, lambda asked: "  plain text \n")
    (answer,) = make_chat().ask([Ask("r", (Message("user", "x"),))])
    assert (answer.status, answer.value) == (Status.OK, "plain text")
    server.responders.insert(0, lambda asked: "a long story " * 200)
    (answer,) = make_chat(max_tokens=50).ask([Ask("r", (Message("user", "x"),))])
    assert answer.status is Status.TRUNCATED


def test_what_the_ledger_holds_and_what_is_left(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token<0>", "language", times=1)
    with pytest.raises(CallLimitReached):
        make_chat(slots=1, chat={"limits": CallLimits(max_calls=1)}).ask(token_asks(1))
    chat = make_chat()
    chat.ask(token_asks(3)[1:])
    held = chat.held(token_asks(4))
    assert [answer.value["token"] if answer else None for answer in held.answers] == [None, "1", "2", None]
    # Of three attempts the first asks had one already, the last none.
    assert (held.calls, held.most) == (2, 2 + 3)
