"""Values that satisfy a JSON schema, a function of the schema, a text to be like, and a random generator."""

from __future__ import annotations

import random
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.words import all_scripts, plain_words, script_of, text_of

_SHORT = 80
_TRIES = 60


def value_for(schema: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    """A value of the schema; strings without a pattern are words in the script of ``like``."""
    return _value(schema, schema, like, rng)


def _value(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    if "$ref" in schema:
        node: Any = whole
        for part in str(schema["$ref"]).lstrip("#/").split("/"):
            node = node[part]
        return _value(node, whole, like, rng)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _value(rng.choice(schema[several]), whole, like, rng)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return _KINDS[kind[0] if isinstance(kind, list) else kind](schema, whole, like, rng)


def _object(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    return {name: _value(part, whole, like, rng) for name, part in schema.get("properties", {}).items()}


def _array(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    least = schema.get("minItems", 1)
    count = rng.randint(least, min(schema.get("maxItems", least + 2), least + 4))
    return [_value(schema.get("items", {}), whole, like, rng) for _ in range(count)]


def _integer(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return rng.randint(least, schema.get("maximum", schema.get("exclusiveMaximum", least + 101) - 1))


def _number(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    least = schema.get("minimum", 0)
    return round(rng.uniform(least, schema.get("maximum", least + 1)), 3)


def _string(schema: Mapping[str, Any], whole: Mapping[str, Any], like: str, rng: random.Random) -> Any:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 400)
    pattern = schema.get("pattern")
    if pattern is None:
        text = text_of(script_of(like), rng.randint(16, 40) if most > _SHORT else rng.randint(2, 3), rng)
        if most <= _SHORT:
            text = text.rstrip(".。።")
        return (text + " " + text * (least // len(text)) if len(text) < least else text)[:most]
    return _matching(pattern, least, most, like, rng)


def _matching(pattern: str, least: int, most: int, like: str, rng: random.Random) -> str:
    """Real words where the pattern lets them through, else whatever it describes."""
    wanted = re.compile(pattern)
    scripts = [script_of(like), *(s for s in all_scripts() if s != script_of(like))]
    for script in scripts:
        for attempt in range(_TRIES):
            make = text_of if attempt < _TRIES // 2 and most > _SHORT else plain_words
            text = make(script, rng.randint(14, 36) if most > _SHORT else rng.randint(2, 4), rng)
            for shape in (text, text[:1].upper() + text[1:]):
                if least <= len(shape) <= most and wanted.search(shape):
                    return shape
    return _from_pattern(sre_parser.parse(pattern), rng)


def _from_pattern(parsed: Any, rng: random.Random) -> str:
    return "".join(_PARTS[op](argument, rng) for op, argument in parsed)


def _one_of(members: Any, rng: random.Random) -> str:
    op, argument = rng.choice([m for m in members if m[0] is not sre.NEGATE])
    if op is sre.RANGE:
        return chr(rng.randint(*argument))
    if op is sre.CATEGORY:
        return {sre.CATEGORY_DIGIT: "7", sre.CATEGORY_SPACE: " "}.get(argument, "a")
    return chr(argument)


def _repeat(argument: Any, rng: random.Random) -> str:
    least, most, what = argument
    return "".join(_from_pattern(what, rng) for _ in range(rng.randint(least, min(most, least + 40))))


_PARTS: dict[Any, Callable[[Any, random.Random], str]] = {
    sre.LITERAL: lambda argument, rng: chr(argument),
    sre.ANY: lambda argument, rng: "a",
    sre.AT: lambda argument, rng: "",
    sre.IN: _one_of,
    sre.MAX_REPEAT: _repeat,
    sre.SUBPATTERN: lambda argument, rng: _from_pattern(argument[-1], rng),
    sre.BRANCH: lambda argument, rng: _from_pattern(rng.choice(argument[1]), rng),
}
_KINDS: dict[str, Callable[..., Any]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "number": _number,
    "string": _string,
    "boolean": lambda schema, whole, like, rng: rng.random() < 0.5,
    "null": lambda schema, whole, like, rng: None,
}
