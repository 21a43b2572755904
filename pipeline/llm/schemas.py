"""Reply schemas: checked before the first call, compiled once, then used on every reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
from jsonschema.protocols import Validator

from pipeline.errors import ConfigError
from pipeline.store.files import digest_text


@dataclass(frozen=True)
class CompiledSchema:
    """A usable reply schema; ``digest`` keeps the order, in which servers write a reply's properties."""

    digest: str
    validator: Validator

    def objection(self, value: Any) -> str | None:
        """The first place where a value breaks the schema, in words, or None."""
        error = next(self.validator.iter_errors(value), None)
        if error is None:
            return None
        where = "/".join(str(part) for part in error.absolute_path) or "the reply"
        return f"{where}: {error.message:.300}"


class Schemas:
    """Compiles each schema once, however many asks carry it."""

    def __init__(self) -> None:
        # The schema is kept beside its id, so that the id cannot be given to another object meanwhile.
        self._by_id: dict[int, tuple[Mapping[str, Any], CompiledSchema]] = {}
        self._by_digest: dict[str, CompiledSchema] = {}

    def get(self, schema: Mapping[str, Any] | None) -> CompiledSchema | None:
        """The compiled schema; ConfigError when no server could use it."""
        if schema is None:
            return None
        known = self._by_id.get(id(schema))
        if known is None:
            digest = digest_text(json.dumps(schema, ensure_ascii=False))
            if digest not in self._by_digest:
                self._by_digest[digest] = compile_schema(schema, digest)
            known = self._by_id[id(schema)] = (schema, self._by_digest[digest])
        return known[1]


def compile_schema(schema: Mapping[str, Any], digest: str) -> CompiledSchema:
    """Check a schema whole: form, patterns, references (a server answers 500 to a dangling one)."""
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        raise ConfigError(
            f"the reply schema is not a JSON schema: {error.json_path}: {error.message}"
        ) from error
    for name, value in _pairs(schema):
        if name == "$ref" and not _resolves(schema, value):
            raise ConfigError(
                f"the reply schema refers to {value!r}, which it does not hold: send its $defs along"
            )
    return CompiledSchema(digest, kind(schema))


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield name, value
            yield from _pairs(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _pairs(value)


def _resolves(schema: Mapping[str, Any], reference: Any) -> bool:
    if not isinstance(reference, str):
        return True  # a property that happens to be called $ref
    if not reference.startswith("#"):
        return False
    node: Any = schema
    for part in reference[1:].strip("/").split("/") if reference != "#" else []:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or part not in node:
            return False
        node = node[part]
    return True
