"""Does a prompt file give its stage what it reads? Looked at before any model is called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.capr.rubrics import RUBRICS
from pipeline.errors import ConfigError
from pipeline.llm.schemas import compile_schema
from pipeline.prompts import Prompt, load_prompt


@dataclass(frozen=True)
class _Field:
    """What a stage reads in a reply: how a schema says it, values that must be taken and refused."""

    written: str
    taken: Sequence[Any]
    refused: Sequence[Any]


_NO_SCORES = (None, True, "3", -1, 0, 1.5, 2.5, 3.5, 4.5, 6, 7, 10, 100)
_WRITTEN_SCORE = "{type: integer, enum: [1, 2, 3, 4, 5]}"
_TEXT = _Field("{type: string}", (), (None, True, 3, ["a"], {}))
_SCORE = _Field(_WRITTEN_SCORE, range(1, 6), _NO_SCORES)
_FITS = _Field(
    f"{{type: array, items: {_WRITTEN_SCORE}, minItems: 4, maxItems: 4}}",
    [[score] * 4 for score in range(1, 6)],
    (None, "1234", [], [1] * 3, [1] * 5, *([1, 2, 3, other] for other in _NO_SCORES)),
)

_READ: dict[str, Mapping[str, _Field]] = {
    "label": {"theme": _TEXT},
    "name_clusters": {"name": _TEXT},
    "scenarios": {"scenario": _TEXT},
    "judge": {**dict.fromkeys(RUBRICS, _SCORE), "fits": _FITS},
}

_PROVERB = {"proverb": "Haste makes waste.", "meaning": "Hurrying leads to mistakes."}
_ITEM = {
    "language": "English",
    "scenario": "Three flatmates salted one soup.",
    "options": [{"letter": letter, **_PROVERB} for letter in "ABCD"],
    "key": "B",
}
_SAMPLES: dict[str, Sequence[Mapping[str, Any]]] = {
    "label": [_PROVERB],
    "name_clusters": [{"labels": ["haste and waste", "patience"]}],
    "scenarios": [{**_PROVERB, "domain": "family", "language": "English"}],
    "judge": [{**_ITEM, "stance": stance} for stance in ("", "Be strict.")],
}


def checked_prompt(stage: str, path: Path) -> Prompt:
    """The prompt file of a stage, filled in once and its reply schema tried.

    Raises ConfigError where a text cannot be made of what the stage gives, or a reply that fits the schema
    could lack what the stage reads: it would be found out after thousands of calls.
    """
    prompt = load_prompt(path)
    for values in _SAMPLES[stage]:
        prompt.render(**values)
    for name, field in _READ[stage].items():
        _check(stage, prompt, name, field)
    return prompt


def _check(stage: str, prompt: Prompt, name: str, field: _Field) -> None:
    schema = prompt.schema or {}
    there = schema.get("type") == "object" and name in schema.get("properties", {})
    if not there or name not in schema.get("required", []):
        raise ConfigError(
            f"{prompt.path}: schema: stage {stage} reads {name} in every reply; write type: object, "
            f"{name}: {field.written} under properties, and {name} under required"
        )
    try:
        alone = compile_schema({**schema, "required": [name]}, "")
    except ConfigError as error:
        raise ConfigError(f"{prompt.path}: schema: {error}") from error
    wrong = [f"refuses {json.dumps(value)}" for value in field.taken if alone.objection({name: value})]
    wrong += [f"takes {json.dumps(value)}" for value in field.refused if not alone.objection({name: value})]
    if wrong:
        raise ConfigError(
            f"{prompt.path}: schema: {name} {wrong[0]}, stage {stage} and the report read nothing but "
            f"{field.written}: write it so"
        )
