"""Embedding models of an Ollama server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx
import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.errors import PrerequisiteError

_BLOCK = 64
_TIMEOUT_SECONDS = 300.0


class OllamaEmbedder:
    """An embedding model of one Ollama server; ``address`` such as http://127.0.0.1:11434."""

    def __init__(self, model: str, address: str) -> None:
        self.name = model
        self._address = address
        self._client = httpx.Client(base_url=address, timeout=_TIMEOUT_SECONDS, trust_env=False)

    @cached_property
    def identity(self) -> str:
        """Ollama's digest of the model."""
        models = self._get("/api/tags")["models"]
        for found in models:
            if found["name"] in (self.name, f"{self.name}:latest"):
                return f"ollama {found['digest']}"
        raise PrerequisiteError(f"{self._address} has no model {self.name!r}; type: ollama pull {self.name}")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32. A text past the model's window is an error, never silently cut."""
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BLOCK):
            body = {"model": self.name, "input": list(texts[start : start + _BLOCK]), "truncate": False}
            rows += self._answer(lambda body=body: self._client.post("/api/embed", json=body))["embeddings"]  # type: ignore[misc]
        found = np.asarray(rows, dtype=np.float32).reshape(len(texts), -1)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        vectors: Vectors = found / np.where(lengths > 0, lengths, 1)
        return vectors

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """Never: the server refuses texts that do not fit."""
        return [False] * len(texts)

    def _get(self, path: str) -> Any:
        return self._answer(lambda: self._client.get(path))

    def _answer(self, call: Any) -> Any:
        try:
            response = call()
        except httpx.TransportError as error:
            raise PrerequisiteError(
                f"no Ollama server answers at {self._address} ({error}); type: ollama serve"
            ) from error
        if response.status_code == 404:
            raise PrerequisiteError(
                f"{self._address} has no model {self.name!r}; type: ollama pull {self.name}"
            )
        if response.status_code != 200:
            raise PrerequisiteError(
                f"{self._address}: embedding with {self.name!r} failed with {response.status_code}: "
                f"{response.text[:200]}"
            )
        return response.json()
