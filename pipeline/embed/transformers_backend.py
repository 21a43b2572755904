"""Embedding models of sentence-transformers, from a hub or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.errors import PrerequisiteError
from pipeline.store.files import digest_file, digest_json


class SentenceTransformers:
    """A sentence-transformers model; loaded when its identity or a vector is first asked for."""

    def __init__(self, model: str, revision: str | None = None) -> None:
        self.name = model
        self._revision = revision

    @cached_property
    def _model(self) -> Any:
        try:
            version("sentence-transformers")
        except PackageNotFoundError as error:
            raise PrerequisiteError(
                f"the embedder {self.name} needs an extra; type: pip install 'adage[transformers]'"
            ) from error
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(self.name, revision=self._revision)
        except (OSError, ValueError) as error:
            raise PrerequisiteError(
                f"the embedder {self.name} cannot be loaded: {str(error).splitlines()[0]}. Check the name, or, "
                f"with a network, type: hf download {self.name}"
            ) from error

    @cached_property
    def revision(self) -> str:
        """What was loaded: the hub's commit, or the digest of a folder's weights."""
        folder = Path(self.name)
        if folder.is_dir():
            files = sorted(
                f for f in folder.rglob("*") if f.suffix in (".safetensors", ".bin", ".json", ".txt")
            )
            return digest_json([[str(f.relative_to(folder)), digest_file(f)] for f in files])[:16]
        config = getattr(self._model[0].auto_model, "config", None)
        return str(getattr(config, "_commit_hash", None) or self._revision or "unknown")

    @property
    def identity(self) -> str:
        """The model's name and the revision that was resolved."""
        return f"sentence-transformers {Path(self.name).name} {self.revision}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32."""
        found = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        vectors: Vectors = np.asarray(found, dtype=np.float32).reshape(len(texts), -1)
        return vectors

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text has more tokens than the model's window."""
        window = self._model.max_seq_length
        counts = (
            [len(ids) for ids in self._model.tokenizer(list(texts), truncation=False)["input_ids"]]
            if texts
            else []
        )
        return [window is not None and count > window for count in counts]
