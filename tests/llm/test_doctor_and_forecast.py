from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.llm.doctor import disk_space, ledger, probe
from pipeline.llm.endpoints import ServedModel
from pipeline.llm.forecast import Pace, forecast, pace_of, together
from pipeline.llm.interface import Answer, Reply, Status
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_info, ollama_model, openai_model
from tests.llm.conftest import QUICK
from tests.servers.postgres import free_port
from tests.servers.scripted import ScriptedServer, digest_of

OPTIONS = ChatOptions(temperature=0.3, max_tokens=50, num_ctx=4096)


def test_a_model_that_is_well(server: ScriptedServer) -> None:
    findings = probe(lambda: ollama_model("x", "scripted", [server.address]), OPTIONS, QUICK)
    assert [(f.name, f.ok, f.fix) for f in findings] == [
        (name, True, "")
        for name in (
            "server and model",
            "context length",
            "thinking",
            "structured reply",
            "log-probabilities",
        )
    ]
    assert digest_of("scripted") in findings[0].detail
    assert "ollama 0.17.4" in findings[0].detail


def test_what_is_wrong_is_said_with_its_remedy(server: ScriptedServer) -> None:
    def make() -> ServedModel:
        return ollama_model("x", "scripted", [server.address])

    server.logprobs = False
    wanting = OPTIONS.model_copy(update={"num_ctx": 10_000, "think": "high", "logprobs": True})
    found = {f.name: f for f in probe(make, wanting, QUICK)}
    assert found["context length"].fix == "set num_ctx to at most 8192 in the profile"
    assert not found["thinking"].ok
    assert "does not support thinking" in found["structured reply"].detail
    wanting = OPTIONS.model_copy(update={"logprobs": True})
    found = {f.name: f for f in probe(make, wanting, QUICK)}
    assert found["structured reply"].ok
    assert found["log-probabilities"].detail == "unsupported by this server"
    assert not found["log-probabilities"].ok
    server.fail_next("language")
    assert not {f.name: f for f in probe(make, OPTIONS, QUICK)}["structured reply"].ok
    server.models.clear()
    (missing,) = probe(make, OPTIONS, QUICK)
    assert "ollama pull scripted" in missing.fix


def test_openai_compatible_servers_need_a_revision(server: ScriptedServer) -> None:
    with pytest.raises(ConfigError, match=r"model x: .* must give revision"):
        openai_model("x", "scripted", [server.address], revision=None)
    model = openai_model("x", "scripted", [server.address + "/v1/"], revision="2025-09", slots=3)
    assert model.identity == "openai:scripted@2025-09"
    assert model.endpoints()[0].address == server.address
    assert all(f.ok for f in probe(lambda: model, OPTIONS, QUICK))


def test_a_server_that_is_away_is_not_waited_for_as_in_a_run(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.llm.doctor._PATIENCE", 0.5)
    addresses = [server.address, f"http://u:secret@127.0.0.1:{free_port()}"]
    model = openai_model("x", "scripted", addresses, revision="1")
    found = [f for f in probe(lambda: model, OPTIONS) if f.name in ("structured reply", "log-probabilities")]
    assert [(f.name, f.ok) for f in found] == [
        ("structured reply", True),
        ("log-probabilities", True),
        ("structured reply", False),
    ]
    assert found[0].detail.startswith(f"{server.address}: ok: ")
    assert found[2].detail.startswith("http://u:***@127.0.0.1:")
    assert "cannot be reached" in found[2].fix


def test_tokens_that_a_server_does_not_count_are_not_said(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.llm.protocols._count", lambda tokens: None)
    findings = probe(lambda: ollama_model("x", "scripted", [server.address]), OPTIONS, QUICK)
    assert "None" not in " ".join(f.detail for f in findings)


def test_ollama_facts(server: ScriptedServer) -> None:
    info = ollama_info(server.address, "scripted")
    assert (info.model, info.version, info.context_length) == ("scripted:latest", "0.17.4", 8192)
    assert info.digest == digest_of("scripted")
    with pytest.raises(PrerequisiteError, match=r"ollama pull gone \(it has: embedder:latest, "):
        ollama_info(server.address, "gone")
    address = server.address
    server.stop()
    with pytest.raises(
        PrerequisiteError, match=f"no Ollama server answers at {address}: start it with: ollama"
    ):
        ollama_info(address, "scripted")
    server.start()


def test_a_ledger_is_looked_at_and_not_made(tmp_path: Path) -> None:
    for place in (tmp_path / "a.sqlite", f"sqlite:///{tmp_path}/a.sqlite"):
        assert ledger(place).detail == f"{tmp_path}/a.sqlite will be made"
    assert list(tmp_path.iterdir()) == []


def test_disk_space(tmp_path: Path) -> None:
    assert disk_space(tmp_path / "not" / "there", 1).ok
    short = disk_space(tmp_path, 10**18)
    assert not short.ok
    assert short.fix.startswith("free ")


def answer(*seconds: float, tokens: int = 10) -> Answer:
    replies = tuple(Reply("x", prompt_tokens=100, completion_tokens=tokens, seconds=s) for s in seconds)
    return Answer("r", Status.OK, replies=replies)


def test_the_pace_of_a_pilot_counts_what_was_asked_again() -> None:
    pace = pace_of([answer(2.0), answer(1.0, 3.0), answer(3.0), Answer("lost", Status.TIMEOUT)])
    assert pace
    assert astuple(pace) == pytest.approx((3, 4 / 3, 3.0, 400 / 3, 40 / 3, 2 * 1.0 / 3**0.5 / 3.0))
    assert pace_of([Answer("lost", Status.TIMEOUT)]) is None


def test_one_row_tells_little_and_many_never_all() -> None:
    one, many = pace_of([answer(2.0)]), pace_of([answer(2.0)] * 100)
    assert one
    assert many
    assert (one.error, many.error) == (1.0, 0.1)


def test_a_forecast_is_calls_not_held_at_the_pace_in_parallel() -> None:
    pace = Pace(asks=10, calls=1.2, seconds=6.0, prompt_tokens=500, completion_tokens=100, error=0.25)
    made = forecast("scenarios", asks=13_750, held=1_750, pace=pace, slots=4)
    assert (made.calls, made.prompt_tokens, made.completion_tokens) == (14_400, 6_000_000, 1_200_000)
    assert (made.hours, made.hours_low, made.hours_high) == (5.0, 3.75, 6.25)
    both = together([made, forecast("judge", asks=100, held=100, pace=pace, slots=4)])
    assert (both.asks, both.held, both.calls, both.hours_high) == (13_850, 1_850, 14_400, 6.25)
