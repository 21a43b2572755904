"""Prompt files: YAML front matter, then Jinja text with `## system`, `## user`, `## assistant` parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import jsonschema
from jinja2 import StrictUndefined, Template, TemplateError, Undefined, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import ConfigError
from pipeline.handwritten import parse_yaml, read_text
from pipeline.llm.interface import Message
from pipeline.store.files import digest_json

_ROLES = ("system", "user", "assistant")


class FrontMatter(BaseModel):
    """What a prompt file says of itself. ``copied`` lists example texts a reply must not repeat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    origin: Literal["ours", "paper"]
    variables: list[str]
    schema_: dict[str, Any] = {}
    examples: list[str] = []

    @classmethod
    def from_yaml(cls, data: Mapping[str, Any]) -> FrontMatter:
        """Validated front matter; the file says ``schema``, a name that pydantic has taken."""
        return cls.model_validate({("schema_" if k == "schema" else k): v for k, v in data.items()})


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The only way for a value into a prompt: one JSON string, so a text cannot close its own quotes.
    environment.finalize = lambda value: value if isinstance(value, _Quoted | int) else _refuse(value)
    environment.filters["quoted"] = _quoted
    return environment


class _Quoted(str):
    """Text that went through the `quoted` filter."""

    __slots__ = ()


def _quoted(value: Any) -> _Quoted:
    if isinstance(value, Undefined):
        str(value)  # says what is not there
    return _Quoted(json.dumps(value, ensure_ascii=False))


def _refuse(value: Any) -> Any:
    raise TemplateError(f"{value!r} is written without the filter: use {{{{ name | quoted }}}}")


@dataclass(frozen=True)
class Prompt:
    """A checked prompt file, ready to render."""

    path: Path
    front: FrontMatter
    parts: tuple[tuple[str, str], ...]

    @cached_property
    def _templates(self) -> list[tuple[str, Template]]:
        """Compiled once: a stage renders one prompt thousands of times."""
        environment = _environment()
        return [(role, environment.from_string(text)) for role, text in self.parts]

    @property
    def digest(self) -> str:
        """Digest of everything that reaches the model; layout of the front matter does not count."""
        return digest_json([self.front.model_dump(), self.parts])

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON schema of the reply, or None for plain text."""
        return self.front.schema_ or None

    def render(self, **values: Any) -> tuple[Message, ...]:
        """The chat messages for these values; their names must be exactly the declared variables."""
        given, wanted = set(values), set(self.front.variables)
        if given != wanted:
            raise ConfigError(
                f"{self.path}: takes {sorted(wanted)}; missing {sorted(wanted - given)}, "
                f"unknown {sorted(given - wanted)}"
            )
        try:
            return tuple(
                Message(role, template.render(**values).strip()) for role, template in self._templates
            )
        # A template is a small program, which may divide by zero or add a text to a number.
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise ConfigError(f"{self.path}: cannot be filled in: {error}") from error


def load_prompt(path: Path) -> Prompt:
    """Read and check a prompt file: front matter, schema, and variables = the template's own."""
    text = read_text(path)
    if not text.startswith("---\n") or "\n---\n" not in text[4:]:
        raise ConfigError(f"{path}: must begin with front matter between two lines of ---")
    head, body = text[4:].split("\n---\n", 1)
    written = parse_yaml(head, path, lines_before=1)
    try:
        front = FrontMatter.from_yaml(written)
        if front.schema_:
            jsonschema.Draft202012Validator.check_schema(front.schema_)
    except (ValidationError, AttributeError, jsonschema.SchemaError) as error:
        raise ConfigError(f"{path}: front matter: {error}") from error
    parts = _split_parts(path, body)
    environment = _environment()
    try:
        trees = [environment.parse(part) for _, part in parts]
        used = set().union(*(meta.find_undeclared_variables(tree) for tree in trees))
    except TemplateError as error:
        raise ConfigError(f"{path}: {error}") from error
    if used != set(front.variables):
        raise ConfigError(
            f"{path}: front matter declares {sorted(front.variables)}, the text uses "
            f"{sorted(used)}: make them equal"
        )
    return Prompt(path, front, parts)


def _split_parts(path: Path, body: str) -> tuple[tuple[str, str], ...]:
    parts: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        name = line.removeprefix("## ").strip()
        if line.startswith("## ") and name in _ROLES:
            parts.append((name, []))
        elif parts:
            parts[-1][1].append(line)
        elif line.strip():
            raise ConfigError(f"{path}: text before the first part; begin with ## system or ## user")
    if not parts:
        raise ConfigError(f"{path}: no part; write ## user and the prompt under it")
    return tuple((role, "\n".join(lines).strip()) for role, lines in parts)
