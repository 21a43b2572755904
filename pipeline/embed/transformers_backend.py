"""Embedding models of sentence-transformers, from a hub or a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.embed.prefix import prefix_of
from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.store.files import digest_file, digest_json

_COMMIT = re.compile(r"[0-9a-f]{40}")
_WEIGHTS_AND_SETTINGS = (".safetensors", ".bin", ".json", ".txt", ".model")


class SentenceTransformers:
    """A sentence-transformers model: a hub's name, at a revision or the newest, or a folder.

    Loaded at the first text, or earlier where only loading tells which revision the newest is.
    """

    def __init__(self, model: str, revision: str | None = None) -> None:
        self.name = model
        self._wanted = revision
        self._prefix = prefix_of(model)

    @cached_property
    def revision(self) -> str:
        """What is loaded: the hub's commit, or the digest of a folder's files. Goes into the manifest."""
        folder = Path(self.name)
        if folder.is_dir():
            files = sorted(f for f in folder.rglob("*") if f.suffix in _WEIGHTS_AND_SETTINGS)
            return digest_json([[f.relative_to(folder).as_posix(), digest_file(f)] for f in files])
        if self._wanted and _COMMIT.fullmatch(self._wanted):
            return self._wanted
        # Loaded first: that brings the newest commit into the hub's cache.
        _ = self._model
        return _commit_loaded(self.name, self._wanted)

    @property
    def identity(self) -> str:
        """The model's name, the revision that was resolved, and the prefix."""
        return f"sentence-transformers {Path(self.name).name} {self.revision} {self._prefix!r}"

    @cached_property
    def _model(self) -> Any:
        try:
            version("sentence-transformers")
        except PackageNotFoundError as error:
            raise PrerequisiteError(
                f"the embedder {self.name} needs an extra; type: pip install 'adage[transformers]'"
            ) from error
        from sentence_transformers import SentenceTransformer

        # A bar of its own for loading weights would break into the build's.
        import_module("transformers.utils.logging").disable_progress_bar()
        try:
            return SentenceTransformer(self.name, revision=self._wanted)
        except (OSError, ValueError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise PrerequisiteError(
                f"the embedder {self.name} cannot be loaded: {why.rstrip('.')}. Check the name in the "
                f"profile, or, with a network, type: hf download {self.name}"
            ) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32. A text past the model's window counts up to there only, see ``cut``."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        found = self._model.encode(
            [self._prefix + text for text in texts],
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors: Vectors = np.asarray(found, dtype=np.float32).reshape(len(texts), -1)
        return vectors

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text has more tokens than the model's window, prefix and special tokens included."""
        window = self._model.max_seq_length
        if window is None or not texts:
            return [False] * len(texts)
        ids = self._model.tokenizer(
            [self._prefix + text for text in texts], truncation=False, padding=False, verbose=False
        )["input_ids"]
        return [len(row) > window for row in ids]


def _commit_loaded(name: str, wanted: str | None) -> str:
    """The commit of a model that was loaded, read off the hub's cache, whose folders are named by it."""
    look_up = import_module("huggingface_hub").try_to_load_from_cache
    # A bare name means the library's own organisation.
    repository = name if "/" in name else f"sentence-transformers/{name}"
    for file in ("modules.json", "config.json"):
        path = look_up(repository, file, revision=wanted)
        if isinstance(path, str):
            return Path(path).parent.name
    raise ConfigError(
        f"embedder.revision: it cannot be told which revision of {name} was loaded; name the commit (40 "
        "digits, on the model's page) in the profile"
    )
