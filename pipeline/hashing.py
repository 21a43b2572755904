"""Random choices that are a function of the run seed and ids: adding rows does not move the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T", str, int)

_BITS = 64


def stable_hash(*parts: str | int) -> int:
    """64-bit hash of the parts; ("ab", "c") and ("a", "bc") differ, and so do 1 and "1"."""
    digest = hashlib.sha256()
    for part in parts:
        text = f"i{part}" if isinstance(part, int) else f"s{part}"
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest()[: _BITS // 8], "big")


def stable_unit(*parts: str | int) -> float:
    """Number in [0, 1), the same for the same parts; 53 bits, as many as a float holds."""
    return (stable_hash(*parts) >> (_BITS - 53)) / 2**53


def stable_order(items: Iterable[T], *salt: str | int) -> list[T]:
    """The items in the order of their hashes under ``salt``."""
    return sorted(items, key=lambda item: (stable_hash(*salt, item), item))


def stable_permutation(size: int, *salt: str | int) -> list[int]:
    """A permutation of 0..size-1."""
    return stable_order(range(size), *salt)
