"""Which components of a stage's key changed, from what to what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.store.stages import KeyParts

_FIELDS = {"chat": ("model", "run_seed"), "judges": ("name", "stance", "model", "run_seed")}
"""How the fields are called that stand in a key without their names."""


@dataclass(frozen=True)
class Change:
    """One component, such as ``params.limit`` or ``prompt``; a side is None where it is not there."""

    component: str
    old: Any
    new: Any


def key_changes(old: KeyParts, new: KeyParts) -> list[Change]:
    """The components that differ, in the order of the new key, then those that are gone."""
    before, after = dict(_flat(old)), dict(_flat(new))
    names = list(dict.fromkeys([*after, *before]))
    return [
        Change(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _flat(parts: KeyParts) -> Iterator[tuple[str, Any]]:
    named = {name: _named(name, value) for name, value in parts.get("given", {}).items()}
    rest = {name: value for name, value in parts.items() if name not in ("given", "stage")}
    yield from _leaves({**named, **rest}, "")


def _named(name: str, value: Any) -> Any:
    if name == "chat":
        return _with_options(dict(zip(_FIELDS["chat"], value, strict=True)))
    if name == "judges":
        judges = [_with_options(dict(zip(_FIELDS["judges"], judge, strict=True))) for judge in value]
        return {judge.pop("name"): judge for judge in judges}
    return value


def _with_options(chat: dict[str, Any]) -> dict[str, Any]:
    """A model's identity is its digest, then the JSON of the options that decide its answers."""
    digest, brace, options = chat["model"].partition(" {")
    return {**chat, "model": {"": digest, **json.loads("{" + options)} if brace else digest}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, ".".join(part for part in (path, str(name)) if part))
    else:
        yield path, value
