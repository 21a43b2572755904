"""`seeds/<lang>/language.yaml`: all that a language is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import regex
import stopwordsiso
from langdetect.detector_factory import PROFILES_DIRECTORY
from pydantic import Field, ValidationError, field_validator

from pipeline.errors import ConfigError
from pipeline.handwritten import parse_yaml, read_text
from pipeline.language.keys import STEPS, Form, undoing
from pipeline.language.tokenisers import TOKENISERS
from pipeline.params import Params


class Codes(Params):
    """ISO 639 codes, and the names that libraries have for the language; empty where one lacks it."""

    iso639_1: str | None = Field(default=None, pattern="^[a-z]{2}$")
    iso639_3: str = Field(pattern="^[a-z]{3}$")
    langdetect: list[str] = []
    glotlid: list[str] = []
    stopwordsiso: str | None = None

    @field_validator("langdetect")
    @classmethod
    def _langdetect_has(cls, codes: list[str]) -> list[str]:
        return _known(codes, langdetect_codes(), "langdetect has no language")

    @field_validator("stopwordsiso")
    @classmethod
    def _stopwordsiso_has(cls, code: str | None) -> str | None:
        if code is not None:
            _known([code], sorted(stopwordsiso.langs()), "stopwordsiso has no language")
        return code


class LookAlikes(Params):
    """Letters or scripts of other languages (``of``) that could pass for this one.

    With ``keyboard`` they may also come from another keyboard, and count only where the identifier agrees.
    """

    letters: str = ""
    scripts: list[str] = []
    of: str = Field(min_length=1)
    keyboard: bool = False

    @field_validator("scripts")
    @classmethod
    def _known_scripts(cls, scripts: list[str]) -> list[str]:
        return _checked_scripts(scripts)


class Options(Params):
    """Labels of the four options: the Latin ones, and those the language itself uses."""

    latin: list[str] = Field(default=["A", "B", "C", "D"], min_length=4, max_length=4)
    native: list[str] = Field(min_length=4, max_length=4)

    @field_validator("latin", "native")
    @classmethod
    def _distinct(cls, labels: list[str]) -> list[str]:
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"{label!r} stands twice")
        return labels


class Strings(Params):
    """What a model under evaluation reads, in the language itself.

    ``instruction`` holds ``{labels}`` once: the option labels are put there, with ``between`` between them.
    """

    scenario: str = Field(min_length=1)
    question: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    between: str = ", "
    answer: str = Field(min_length=1)

    @field_validator("instruction")
    @classmethod
    def _has_labels(cls, text: str) -> str:
        if text.count("{labels}") != 1 or text.count("{") != 1:
            raise ValueError(f"{text!r} must hold {{labels}} exactly once, where the option labels belong")
        return text

    def instruction_for(self, labels: Sequence[str]) -> str:
        """The instruction with these option labels."""
        return self.instruction.replace("{labels}", self.between.join(labels))


class LanguageSpec(Params):
    """One language file; docs/add-a-language.md explains every field."""

    name: str = Field(min_length=1)
    native_name: str = Field(min_length=1)
    codes: Codes
    scripts: list[str] = Field(min_length=1)
    decisive_scripts: list[str] = []
    own_letters: str = ""
    look_alikes: list[LookAlikes] = []
    mistaken_for: list[str] = []
    direction: Literal["ltr", "rtl"]
    tokeniser: str
    word_unit: str = "words"
    word_spaces: bool = True
    key: list[str] = Field(min_length=1)
    stopwords: list[str] = []
    sentence_end: list[str] = Field(min_length=1)
    grammar: str = Field(min_length=1)
    options: Options
    strings: Strings
    status: Literal["draft", "reviewed"]
    notes: list[str] = []

    @field_validator("scripts", "decisive_scripts")
    @classmethod
    def _known_scripts(cls, scripts: list[str]) -> list[str]:
        return _checked_scripts(scripts)

    @field_validator("mistaken_for")
    @classmethod
    def _langdetect_has(cls, codes: list[str]) -> list[str]:
        return _known(codes, langdetect_codes(), "langdetect has no language")

    @field_validator("tokeniser")
    @classmethod
    def _known_tokeniser(cls, name: str) -> str:
        return _known([name], list(TOKENISERS), "no tokeniser is called")[0]

    @field_validator("key")
    @classmethod
    def _usable_steps(cls, names: list[str]) -> list[str]:
        _known(names, list(STEPS), "no key step is called")
        ordered = [name for name in STEPS if name in names]
        if names != ordered:
            raise ValueError(f"key steps must stand in the order they work in, once each: {ordered}")
        forms = [name for name in names if isinstance(STEPS[name], Form)]
        if len(forms) != 1:
            raise ValueError("key must begin with one of nfc and nfkc")
        undone = undoing(names)
        if undone:
            raise ValueError(f"{undone[0]} and {undone[1]} undo each other: keep the one for this language")
        return names

    @field_validator("grammar")
    @classmethod
    def _plain_class(cls, inside: str) -> str:
        # Read alike by Python, JSON schema validators and llama.cpp's grammars: no escapes, no operators.
        bad = regex.search(r"[\[\]\\^[\s--[ ]]]|--|&&|~~", inside, flags=regex.V1)
        if bad:
            raise ValueError(
                f"{bad.group()!r} cannot stand in grammar; write single characters, ranges such as a-z, "
                "one blank, and - at the very end"
            )
        try:
            regex.compile(f"[{inside}]")
        except regex.error as error:
            raise ValueError(f"{inside!r} is not a list of characters and ranges: {error}") from error
        return inside


def load_spec(path: Path) -> LanguageSpec:
    """Read and check a language file; ConfigError names the file, the field and what is allowed."""
    if not path.exists():
        raise ConfigError(f"{path}: no such language file; type: adage language new {path.parent.name}")
    data = parse_yaml(read_text(path), path)
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must hold fields such as 'name: Hausa', one a line")
    return parse_spec(data, path)


def parse_spec(data: Mapping[str, object], path: Path) -> LanguageSpec:
    """Check the data of a language file; ``path`` is for the message only."""
    try:
        return LanguageSpec.model_validate(data)
    except ValidationError as error:
        problems = (
            ".".join(map(str, problem["loc"])) + ": " + problem["msg"].removeprefix("Value error, ")
            for problem in error.errors()
        )
        raise ConfigError(f"{path}: " + "; ".join(problems)) from error


def check_scripts(scripts: list[str], path: Path) -> None:
    """Raise ConfigError unless each is a Unicode script; ``path`` is for the message only."""
    try:
        _checked_scripts(scripts)
    except ValueError as error:
        raise ConfigError(f"{path}: scripts: {error}") from error


def _checked_scripts(scripts: list[str]) -> list[str]:
    for script in scripts:
        if not _is_script(script):
            raise ValueError(f"{script!r} is not a Unicode script, such as Latin, Arabic, Ethiopic")
    return scripts


def _is_script(name: str) -> bool:
    # The engine takes a name with other signs for plain characters, without a complaint.
    if not regex.fullmatch("[A-Za-z_]+", name):
        return False
    try:
        regex.compile(rf"\p{{Script={name}}}")
    except regex.error:
        return False
    return True


def _known(names: list[str], allowed: Sequence[str], complaint: str) -> list[str]:
    for name in names:
        if name not in allowed:
            raise ValueError(f"{complaint} {name!r}; allowed: {', '.join(allowed)}")
    return names


@lru_cache(maxsize=1)
def langdetect_codes() -> tuple[str, ...]:
    """The codes of all languages that langdetect knows."""
    return tuple(sorted(file.name for file in Path(PROFILES_DIRECTORY).iterdir()))
