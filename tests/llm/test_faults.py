"""Servers that misbehave: nothing is lost, nothing is doubled, and the run goes on or says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import PrerequisiteError
from pipeline.llm.interface import Status
from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import stats
from pipeline.llm.limits import Progress
from pipeline.llm.transport import Timing
from tests.llm.asks import echo, token_asks, tokens
from tests.llm.conftest import MakeChat
from tests.servers.postgres import free_port
from tests.servers.scripted import ScriptedServer

REPO = Path(__file__).resolve().parents[2]
IMPATIENT = Timing(call=0.5, first_call=1, patience=1.5, tries_broken=3)


@pytest.fixture(autouse=True)
def _echo(server: ScriptedServer) -> None:
    server.responders.append(echo)


def test_a_busy_server_is_waited_for_and_every_item_answered(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.busy_for(1)
    chat = make_chat()
    assert tokens(chat.ask(token_asks(30))) == [str(i) for i in range(30)]
    assert chat.counts.made == 30
    assert len(server.chats) < 60  # a busy server is not hammered


def test_more_slots_than_the_server_serves_still_answer_everything(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.most_at_once = 3
    server.delay = 0.02
    assert tokens(make_chat(slots=12).ask(token_asks(60))) == [str(i) for i in range(60)]


def test_retry_after_is_honoured(server: ScriptedServer, make_chat: MakeChat) -> None:
    times: list[float] = []

    def note(asked: Any) -> None:
        times.append(time.monotonic())

    server.responders.insert(0, note)
    chat = make_chat(slots=1)
    chat.ask(token_asks(1))
    server.fail_next("retry_after")
    started = time.monotonic()
    assert tokens(chat.ask(token_asks(2))) == ["0", "1"]
    assert times[-1] - started >= 1.0


@pytest.mark.parametrize("fault", ["close", "garbage", "error"])
def test_a_broken_exchange_is_tried_again_as_the_same_call(
    server: ScriptedServer, make_chat: MakeChat, ledger_file: Path, fault: str
) -> None:
    server.fail_when("token<3>", fault, times=2)
    assert tokens(make_chat().ask(token_asks(6))) == [str(i) for i in range(6)]
    bodies = [call.body for call in server.chats if "token<3>" in str(call.body)]
    assert len(bodies) == 3
    assert bodies[0] == bodies[1] == bodies[2]
    held = stats(Ledger(ledger_file))
    assert held.replies == 6
    assert sum(held.events.values()) == 2


@pytest.mark.parametrize(
    ("fault", "status"),
    [("close", Status.SERVER_ERROR), ("hang", Status.TIMEOUT), ("bad_request", Status.SERVER_ERROR)],
)
def test_a_call_that_never_succeeds_is_quarantined_and_the_run_goes_on(
    server: ScriptedServer, make_chat: MakeChat, ledger_file: Path, fault: str, status: Status
) -> None:
    server.fail_when("token<3>", fault)
    answers = make_chat(chat={"timing": IMPATIENT}).ask(token_asks(6))
    assert [a.status for a in answers] == [status if i == 3 else Status.OK for i in range(6)]
    assert not answers[3].status.lasting
    assert answers[3].why
    server.heal()
    again = make_chat(chat={"timing": IMPATIENT})
    assert tokens(again.ask(token_asks(6))) == [str(i) for i in range(6)]
    assert (again.counts.made, again.counts.reused) == (1, 5)


def test_the_first_call_has_more_time_than_the_others(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.delay = 0.4
    timing = Timing(call=0.2, first_call=5, patience=2, tries_timeout=1)
    first, second = make_chat(protocol="openai", slots=1, chat={"timing": timing}).ask(token_asks(2))
    assert first.ok
    assert second.status is Status.TIMEOUT


def test_a_server_that_was_away_has_the_time_of_a_first_call_again(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    timing = Timing(call=0.2, first_call=5, patience=10, tries_timeout=1)
    chat = make_chat(protocol="openai", slots=1, chat={"timing": timing})
    assert chat.ask(token_asks(1))[0].ok
    server.stop()
    server.delay = 0.4
    again = threading.Timer(0.5, server.start)
    again.start()
    _, first, second = chat.ask(token_asks(3))
    again.join()
    assert first.ok
    assert second.status is Status.TIMEOUT


def test_a_server_loads_its_model_anew_for_every_stage(server: ScriptedServer, make_chat: MakeChat) -> None:
    chat = make_chat()
    for count in (2, 4):
        chat.ask(token_asks(count))
        asked = [bool(request.body["messages"]) for request in server.requests]
        # Other models were asked meanwhile, which may have put this one out.
        assert asked[-3:] == [False, True, True]


def test_a_server_away_for_good_ends_the_run_with_what_to_type(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    chat = make_chat(chat={"timing": IMPATIENT})
    chat.ask(token_asks(4))
    server.stop()
    with pytest.raises(PrerequisiteError, match=r"no server answered for 2 s; .*ollama serve"):
        chat.ask(token_asks(40))
    server.start()
    again = make_chat()
    assert tokens(again.ask(token_asks(40))) == [str(i) for i in range(40)]
    assert again.counts.reused == 4


def test_many_losses_in_a_row_end_the_run(server: ScriptedServer, make_chat: MakeChat) -> None:
    server.fail_when("token", "bad_request")
    with pytest.raises(
        PrerequisiteError, match=r"\d+ calls in a row got no reply, the last because: HTTP 400"
    ):
        make_chat().ask(token_asks(100))
    assert len(server.chats) < 40


@pytest.mark.parametrize(("protocol", "fault"), [("openai", "bad_request"), ("ollama", "error")])
def test_a_round_without_any_reply_ends_in_the_servers_words(
    server: ScriptedServer, make_chat: MakeChat, protocol: str, fault: str
) -> None:
    server.fail_when("token", fault)
    timing = Timing(call=5, first_call=5, patience=5, tries_broken=1)
    with pytest.raises(PrerequisiteError) as caught:
        make_chat(protocol=protocol, chat={"timing": timing}).ask(token_asks(3))
    said = f"model teller at {server.address}: none of 3 asks got a reply, the last because: HTTP "
    assert str(caught.value).startswith(said)
    assert ("I do not like" if fault == "bad_request" else "has terminated") in str(caught.value)


def test_one_row_that_the_server_refuses_says_nothing_about_the_server(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.fail_when("token", "bad_request")
    assert [a.status for a in make_chat().ask(token_asks(2))] == [Status.SERVER_ERROR] * 2


def test_rows_without_a_reply_beside_those_the_ledger_holds_stop_nothing(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    make_chat().ask(token_asks(3))
    server.fail_when("token", "bad_request")
    answers = make_chat().ask(token_asks(5))
    assert [a.status for a in answers] == [Status.OK] * 3 + [Status.SERVER_ERROR] * 2


@pytest.mark.parametrize("seconds", [1.5, pytest.param(61, marks=pytest.mark.full)])
def test_a_server_away_for_a_while_is_survived(
    server: ScriptedServer, make_chat: MakeChat, seconds: float
) -> None:
    server.delay = 0.02
    gone = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done > 10 and not gone.is_set():
            gone.set()
            threading.Thread(target=interrupt).start()

    def interrupt() -> None:
        server.stop()
        time.sleep(seconds)
        server.start()

    chat = make_chat(chat={"progress": watch, "timing": Timing()})
    assert tokens(chat.ask(token_asks(300))) == [str(i) for i in range(300)]
    assert gone.is_set()
    assert chat.counts.made == 300


@pytest.fixture
def other_server() -> Iterator[ScriptedServer]:
    with ScriptedServer(responders=[echo]) as running:
        yield running


def test_calls_go_to_the_least_busy_of_several_servers(
    server: ScriptedServer, other_server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.delay, other_server.delay = 0.02, 0.06
    chat = make_chat(slots=4, addresses=[server.address, other_server.address])
    assert tokens(chat.ask(token_asks(120))) == [str(i) for i in range(120)]
    quick, slow = len(server.chats), len(other_server.chats)
    assert quick + slow == 120
    assert quick > 1.5 * slow > 0


def test_a_broken_server_is_set_aside_and_tried_again(
    server: ScriptedServer, other_server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.delay = other_server.delay = 0.02
    chat = make_chat(slots=2, addresses=[server.address, other_server.address])
    other_server.stop()
    assert tokens(chat.ask(token_asks(60))) == [str(i) for i in range(60)]
    assert len(server.chats) == 60
    other_server.start()
    asks = token_asks(900)
    assert tokens(chat.ask(asks)) == [str(i) for i in range(900)]
    # Back-off has jitter: how soon it is tried again is chance, that it is tried again is not.
    assert len(other_server.chats) >= 1


def test_one_row_on_which_a_server_breaks_does_not_stop_it_for_the_others(
    server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.delay = 0.05
    server.fail_when("token<3>", "error")
    chat = make_chat(slots=8, chat={"timing": Timing(tries_broken=4)})
    # So many that others are under way whatever the jitter of its four tries, 3.5 s at most.
    answers = chat.ask(token_asks(640))
    assert [a.row_id for a in answers if not a.ok] == ["row-3"]
    assert sum("token<3>" in str(call.body) for call in server.chats) == 4
    assert sum(chat.seen["servers"].values()) == 639
    # Set aside, it would have got one call at a time after each failure, and none for seconds.
    [endpoint] = chat._endpoints or ()
    assert (endpoint.failures, endpoint.away_until) == (0, 0.0)


def test_servers_with_different_digests_of_a_model_are_refused(
    server: ScriptedServer, other_server: ScriptedServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.servers.scripted.digest_of", _changing())
    with pytest.raises(PrerequisiteError, match="different versions of model scripted"):
        make_chat(addresses=[server.address, other_server.address])


def _changing() -> Callable[[str], str]:
    digests: Iterator[int] = iter(range(10_000))
    return lambda name: f"{next(digests):064x}"


# What befalls row i of 500 by i modulo 50, and what must come of it; every other row is answered well.
_TROUBLES = {
    0: ("close", Status.SERVER_ERROR),
    3: ("cut", Status.TRUNCATED),
    6: ("thinking", Status.THINKING_ONLY),
    9: ("open_think", Status.THINKING_ONLY),
    12: ("language", Status.INVALID),
    15: ("blanks", Status.OK),
    18: ("only_blanks", Status.EMPTY),
    21: ("empty", Status.EMPTY),
    24: ("nothing", Status.SERVER_ERROR),
    27: ("refuse", Status.REFUSED),
    30: ("garbage", Status.SERVER_ERROR),
    33: ("error", Status.SERVER_ERROR),
}
_ROWS = 500
_BEFALLS = {i: _TROUBLES[i % 50] for i in range(_ROWS) if i % 50 in _TROUBLES}
_BEFALLS |= dict.fromkeys((262, 487), ("hang", Status.TIMEOUT))


class FarServer:
    """A scripted server in a process of its own; however often it starts, it is busy at first."""

    def __init__(self) -> None:
        self._port = free_port()
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        when = {f"token<{i}>": fault for i, (fault, _) in _BEFALLS.items()}
        options = {
            "port": self._port,
            "delay": 0.02,
            "script": json.dumps({"when": when, "busy_seconds": 2}),
            "responder": "tests.llm.asks:echo",
        }
        command = [sys.executable, "-m", "tests.servers.scripted"]
        command += [f"--{name}={value}" for name, value in options.items()]
        self._process = subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        assert self._process.stdout.readline().startswith("http")

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def far_server() -> Iterator[FarServer]:
    server = FarServer()
    server.start()
    yield server
    server.kill()


def test_500_rows_through_every_trouble_are_accepted_or_quarantined(
    far_server: FarServer, make_chat: MakeChat, tmp_path: Path
) -> None:
    killed = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done > 150 and not killed.is_set():
            killed.set()
            threading.Thread(target=interfere).start()

    def interfere() -> None:
        far_server.kill()
        time.sleep(1)
        far_server.start()

    ledger = Ledger(tmp_path / "faults.sqlite")
    chat = make_chat(
        slots=16,
        addresses=[far_server.address],
        ledger=ledger,
        chat={
            # A call that the kill broke is tried again, beside the tries that its own trouble takes.
            "timing": Timing(call=5, first_call=30, patience=120, tries_broken=4, tries_timeout=1),
            "progress": watch,
        },
    )
    asks = token_asks(_ROWS)
    answers = chat.ask(asks)
    assert killed.is_set()
    assert [a.row_id for a in answers] == [ask.row_id for ask in asks]
    for i, answer in enumerate(answers):
        _, status = _BEFALLS.get(i, ("", Status.OK))
        assert answer.status is status, (i, answer)
        if answer.ok:
            assert answer.value["token"] == str(i)
        else:
            assert answer.value is None
            assert answer.why
        # Every raw reply is there: three attempts where replies came, none where only the line broke.
        lost = status in (Status.SERVER_ERROR, Status.TIMEOUT)
        assert len(answer.replies) == (1 if answer.ok else 0 if lost else 3), (i, answer)
    assert stats(ledger).replies == sum(len(answer.replies) for answer in answers) == chat.counts.made
    again = make_chat(addresses=[far_server.address], ledger=ledger)
    # Only what no reply came for is asked once more.
    assert again.calls_needed(asks) == sum(not a.status.lasting for a in answers)
