"""Embedding models of an Ollama server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import httpx
import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.embed.prefix import prefix_of
from pipeline.errors import PrerequisiteError

_BLOCK = 64
_TIMEOUT_SECONDS = 300.0
# What Ollama 0.13 and 0.17 answer to a text past the window when told not to truncate.
_TOO_LONG = "context length"


class OllamaEmbedder:
    """An embedding model of one Ollama server; ``address`` such as http://127.0.0.1:11434."""

    def __init__(self, model: str, address: str) -> None:
        self.name = model
        self._address = address
        self._client = httpx.Client(base_url=address, timeout=_TIMEOUT_SECONDS, trust_env=False)
        self._prefix = prefix_of(model)
        self._cut: dict[str, bool] = {}

    @cached_property
    def identity(self) -> str:
        """Ollama's digest of the model, and the prefix."""
        response = self._send("GET", "/api/tags")
        with self._understood(response):
            digests = {found["name"]: found["digest"] for found in self._checked(response)["models"]}
        for name in (self.name, f"{self.name}:latest"):
            if name in digests:
                return f"ollama {digests[name]} {self._prefix!r}"
        raise self._not_pulled()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32. A text past the model's window counts up to there only, see ``cut``."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BLOCK):
            rows += self._embed(list(texts[start : start + _BLOCK]))
        found = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        vectors: Vectors = (found / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return vectors

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where the server refused the whole text because it is longer than the model's window."""
        self.embed([text for text in dict.fromkeys(texts) if text not in self._cut])
        return [self._cut[text] for text in texts]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        # Left to itself Ollama cuts without a word, so it is told not to and asked for the halves.
        response = self._ask(texts, truncate=False)
        if response.status_code != 400 or _TOO_LONG not in response.text:
            self._cut |= dict.fromkeys(texts, False)
            return self._vectors(response, len(texts))
        if len(texts) > 1:
            half = len(texts) // 2
            return self._embed(texts[:half]) + self._embed(texts[half:])
        self._cut[texts[0]] = True
        return self._vectors(self._ask(texts, truncate=True), 1)

    def _ask(self, texts: list[str], *, truncate: bool) -> httpx.Response:
        given = [self._prefix + text for text in texts]
        return self._send("POST", "/api/embed", {"model": self.name, "input": given, "truncate": truncate})

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        try:
            return self._client.request(method, path, json=body)
        except httpx.TimeoutException as error:
            raise PrerequisiteError(
                f"the Ollama server at {self._address} did not answer within {_TIMEOUT_SECONDS:.0f} s while "
                f"embedding with {self.name!r}; look at its log, or start it again: ollama serve"
            ) from error
        except httpx.RequestError as error:
            raise PrerequisiteError(
                f"no Ollama server answers at {self._address} ({error}); type: ollama serve"
            ) from error

    def _vectors(self, response: httpx.Response, count: int) -> list[list[float]]:
        with self._understood(response):
            found: list[list[float]] = self._checked(response)["embeddings"]
            shape = np.asarray(found, dtype=np.float32).shape
            if len(shape) != 2 or shape[0] != count:
                raise ValueError(f"{count} vectors wanted, an array of shape {shape} came")
        return found

    @contextmanager
    def _understood(self, response: httpx.Response) -> Iterator[None]:
        try:
            yield
        except (ValueError, LookupError, TypeError) as error:
            raise PrerequisiteError(
                f"{self._address}{response.url.path} does not answer as Ollama does: "
                f"{' '.join(response.text.split())[:200]!r}; check the embedder's address in the profile, or "
                "OLLAMA_HOST"
            ) from error

    def _checked(self, response: httpx.Response) -> Any:
        if response.status_code == 404:
            raise self._not_pulled()
        if response.status_code != 200:
            raise PrerequisiteError(
                f"{self._address}: embedding with {self.name!r} failed with {response.status_code}: "
                f"{response.text[:200]}. Is it an embedding model? Type: ollama show {self.name}"
            )
        return response.json()

    def _not_pulled(self) -> PrerequisiteError:
        return PrerequisiteError(f"{self._address} has no model {self.name!r}; type: ollama pull {self.name}")
