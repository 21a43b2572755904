"""The model layer's contract on a real Ollama server with a real (small, base) model."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.llm.chat import LedgerChat
from pipeline.llm.doctor import probe
from pipeline.llm.interface import Ask, Message, Status
from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import stats
from pipeline.llm.limits import Progress
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_model
from pipeline.llm.transport import Timing
from tests.servers.real_ollama import CHAT_MODEL, EMBEDDING_MODEL, RealOllama

# Generous: on two busy cores a reply of 200 tokens can take minutes.
pytestmark = [pytest.mark.ollama, pytest.mark.timeout(1200)]
PATIENT = Timing(call=500, first_call=600, patience=300)


@pytest.fixture
def chat(real_ollama: RealOllama, tmp_path: Path) -> Any:
    """A chat on the real server; options by name, ``settings`` for the chat itself."""

    def make(
        settings: dict[str, Any] | None = None, ledger: str = "ledger.sqlite", **options: Any
    ) -> LedgerChat:
        chosen = ChatOptions(**{"temperature": 0.8, "max_tokens": 64, "num_ctx": 512, **options})
        model = ollama_model("real", CHAT_MODEL, [real_ollama.address], slots=4)
        return LedgerChat(model, chosen, Ledger(tmp_path / ledger), **{"timing": PATIENT, **(settings or {})})

    return make


def colour_asks(count: int) -> list[Ask]:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
    return [
        Ask(
            f"row-{i}",
            (Message("user", f"Name colour {i} in JSON."),),
            {**schema, "additionalProperties": False},
        )
        for i in range(count)
    ]


def test_structured_replies_under_a_whole_schema(chat: Any) -> None:
    schema = {
        "$defs": {"grade": {"type": "integer", "minimum": 1, "maximum": 5}},
        "type": "object",
        "properties": {
            "text": {"type": "string", "pattern": "^[ሀ-፿ ]{3,12}$"},
            "grades": {"type": "array", "items": {"$ref": "#/$defs/grade"}, "minItems": 2, "maxItems": 2},
        },
        "required": ["text", "grades"],
        "additionalProperties": False,
    }
    asks = [Ask(f"r{i}", (Message("user", "ሰላም ለዓለም"),), schema) for i in range(4)]
    answers = chat(max_tokens=200).ask(asks)
    values = [answer.value for answer in answers if answer.ok]
    assert len(values) >= 3, [(a.status, a.why, a.raw) for a in answers]
    assert all(len(value["grades"]) == 2 for value in values)


def test_each_of_four_at_once_gets_its_own_answer(chat: Any) -> None:
    asks = [
        Ask(
            f"row-{i}",
            (Message("user", f"Say token {i}."),),
            {"type": "object", "properties": {"token": {"const": f"t{i}"}}, "required": ["token"]},
        )
        for i in range(16)
    ]
    answers = chat(max_attempts=5).ask(asks)
    assert [answer.value and answer.value["token"] for answer in answers] == [f"t{i}" for i in range(16)]


def test_one_seed_gives_one_text_and_another_another(chat: Any) -> None:
    ask = [Ask("row", (Message("user", "Tell a story."),))]
    texts = []
    for number, run_seed in enumerate((1, 1, 2)):
        again = chat(ledger=f"{number}.sqlite", run_seed=run_seed, max_attempts=1)
        texts.append(again.ask(ask)[0].replies[0].content)
    assert texts[0] == texts[1] != texts[2]


def test_a_prompt_longer_than_the_window_is_said_to_be(chat: Any) -> None:
    long = Ask("long", (Message("user", "word " * 600),))
    answers = chat(max_attempts=1).ask([long, *colour_asks(1)])
    assert answers[0].status is Status.PROMPT_TOO_LONG
    assert "exceeds the context length" in answers[0].why
    assert answers[1].ok


def test_a_window_full_of_reply_ends_it_and_forgets_nothing(chat: Any) -> None:
    (answer,) = chat(num_ctx=256, max_tokens=256, max_attempts=1).ask(
        [Ask("r", (Message("user", "Count: " + " ".join(map(str, range(60)))),))]
    )
    assert answer.status in (Status.OK, Status.TRUNCATED)
    reply = answer.replies[0]
    assert reply.prompt_tokens
    assert reply.completion_tokens
    assert reply.prompt_tokens + reply.completion_tokens <= 257


def test_identity_is_the_server_s_digest(chat: Any, real_ollama: RealOllama) -> None:
    tags = httpx.get(f"{real_ollama.address}/api/tags", trust_env=False).json()["models"]
    digest = next(m["digest"] for m in tags if m["name"] == f"{CHAT_MODEL}:latest")
    made = chat()
    assert made.identity.startswith(f"ollama:{digest} ")
    assert made.facts["context_length"] == 32768


def test_json_cut_by_the_budget_is_truncated_then_mended_by_a_larger_one(chat: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"const": "x" * 40}}, "required": ["a"]}
    ask = [Ask("row", (Message("user", "Say x."),), schema)]
    (cut,) = chat(max_tokens=3, max_attempts=1).ask(ask)
    assert cut.status is Status.TRUNCATED
    assert cut.replies[0].finish_reason == "length"
    (mended,) = chat(max_tokens=3, max_attempts=7).ask(ask)
    assert mended.ok
    assert len(mended.replies) > 1


def test_blanks_after_the_answer_are_bounded_and_read_over(chat: Any) -> None:
    answers = chat(max_tokens=120, max_attempts=2).ask(colour_asks(8))
    assert sum(answer.ok for answer in answers) >= 6
    for answer in answers:
        assert all((reply.completion_tokens or 0) <= 241 for reply in answer.replies)


def test_blanks_a_schema_lets_a_model_write_for_ever_end_with_the_budget(chat: Any) -> None:
    # Three hundred blanks at least: nothing else fits the grammar, and the budget ends it.
    schema = {
        "type": "object",
        "properties": {"pad": {"type": "string", "pattern": "^ {300,}$"}},
        "required": ["pad"],
        "additionalProperties": False,
    }
    (answer,) = chat(max_tokens=5, max_attempts=2).ask([Ask("r", (Message("user", "Pad."),), schema)])
    assert answer.status is Status.TRUNCATED
    assert [reply.completion_tokens for reply in answer.replies] == [5, 10]
    assert [reply.finish_reason for reply in answer.replies] == ["length", "length"]
    assert answer.replies[1].content.rstrip().endswith('"')


def test_thinking_the_model_cannot_do_is_refused_before_long(chat: Any) -> None:
    with pytest.raises(ConfigError, match="does not support thinking"):
        chat(think=True).ask(colour_asks(2))
    assert chat(think=False, max_attempts=5).ask(colour_asks(1))[0].ok


def test_a_missing_model_and_a_missing_server_say_what_to_type(real_ollama: RealOllama) -> None:
    with pytest.raises(PrerequisiteError, match="ollama pull llama9"):
        ollama_model("x", "llama9", [real_ollama.address])
    with pytest.raises(PrerequisiteError, match="ollama serve"):
        ollama_model("x", "llama9", ["http://127.0.0.1:9"])


def test_a_schema_the_server_cannot_use_stops_the_run(real_ollama: RealOllama, chat: Any) -> None:
    body = {"model": CHAT_MODEL, "messages": [{"role": "user", "content": "x"}], "stream": False}
    raw = httpx.post(
        f"{real_ollama.address}/api/chat",
        json={**body, "format": {"$ref": "#/$defs/x"}},
        timeout=60,
        trust_env=False,
    )
    assert raw.status_code == 500
    with pytest.raises(ConfigError, match="does not hold"):
        chat().ask([Ask("r", (Message("user", "x"),), {"$ref": "#/$defs/x"})])


def test_log_probabilities(chat: Any) -> None:
    made = chat(logprobs=True, top_logprobs=2, max_tokens=8, max_attempts=1)
    (answer,) = made.ask([Ask("r", (Message("user", "One colour:"),))])
    first = answer.replies[0].logprobs[0]
    assert first["logprob"] <= 0
    assert len(first["top"]) == 2
    assert made.seen["logprobs"] == "given"


def test_an_embedding_model_cannot_chat(real_ollama: RealOllama, tmp_path: Path) -> None:
    model = ollama_model("x", EMBEDDING_MODEL, [real_ollama.address])
    chat = LedgerChat(model, ChatOptions(temperature=0, max_tokens=8), Ledger(tmp_path / "l.sqlite"))
    with pytest.raises(ConfigError, match="does not support chat"):
        chat.ask(colour_asks(1))


def test_embeddings_are_unit_vectors_and_near_for_near_meanings(real_ollama: RealOllama) -> None:
    texts = ["A dog barks at night.", "The hound was barking after dark.", "Interest rates rose again."]
    answer = httpx.post(
        f"{real_ollama.address}/api/embed",
        json={"model": EMBEDDING_MODEL, "input": texts},
        timeout=60,
        trust_env=False,
    )
    vectors = np.array(answer.json()["embeddings"])
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]


def test_the_doctor_finds_it_well(real_ollama: RealOllama) -> None:
    options = ChatOptions(temperature=0, max_tokens=64, num_ctx=512)
    findings = probe(lambda: ollama_model("x", CHAT_MODEL, [real_ollama.address]), options, PATIENT)
    assert {f.name: f.ok for f in findings} == {
        "server and model": True,
        "context length": True,
        "thinking": True,
        "structured reply": True,
        "log-probabilities": True,
    }, findings
    wanting = ChatOptions(temperature=0, max_tokens=64, num_ctx=65536, think=True)
    found = {f.name: f for f in probe(lambda: ollama_model("x", CHAT_MODEL, [real_ollama.address]), wanting)}
    assert "at most 32768" in found["context length"].fix
    assert "leave think out" in found["thinking"].fix


def test_a_server_killed_in_mid_run_and_started_again_loses_and_doubles_nothing(
    real_ollama: RealOllama, chat: Any, tmp_path: Path
) -> None:
    seen = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done >= 6:
            seen.set()

    def interfere() -> None:
        seen.wait(120)
        real_ollama.stop(signal.SIGKILL)
        time.sleep(2)
        real_ollama.start()

    helper = threading.Thread(target=interfere)
    helper.start()
    made = chat({"progress": watch}, max_tokens=48, max_attempts=4)
    try:
        answers = made.ask(colour_asks(30))
    finally:
        seen.set()
        helper.join()
    assert [answer.row_id for answer in answers] == [f"row-{i}" for i in range(30)]
    assert all(answer.status.lasting for answer in answers)
    assert sum(answer.ok for answer in answers) >= 25
    replies = sum(len(answer.replies) for answer in answers)
    held = stats(Ledger(tmp_path / "ledger.sqlite"))
    assert held.replies == replies == made.counts.made
    assert held.events
    again = chat(max_tokens=48, max_attempts=4)
    assert [a.value for a in again.ask(colour_asks(30))] == [a.value for a in answers]
    assert again.counts.made == 0
    assert json.dumps(again.facts)
