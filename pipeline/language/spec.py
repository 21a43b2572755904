"""`seeds/<lang>/language.yaml`: all that a language is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import regex
import yaml
from pydantic import Field, ValidationError, field_validator

from pipeline.errors import ConfigError
from pipeline.language.keys import STEPS
from pipeline.language.tokenisers import TOKENISERS
from pipeline.params import Params


class Codes(Params):
    """ISO 639 codes; ``langdetect`` is the code that library uses, or none where it lacks the language."""

    iso639_1: str | None = None
    iso639_3: str = Field(min_length=3, max_length=3)
    langdetect: str | None = None
    stopwordsiso: str | None = None


class LookAlikes(Params):
    """Letters of the same script that this language does not use, and whose they are."""

    letters: str
    of: str


class Options(Params):
    """Labels of the four options: the Latin ones and the ones the language itself uses."""

    latin: list[str] = ["A", "B", "C", "D"]
    native: list[str] = Field(min_length=4, max_length=4)


class Strings(Params):
    """What a model under evaluation reads, in the language itself."""

    question: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    scenario: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class LanguageSpec(Params):
    """One language file. ``grammar`` is the inside of a character class that a small model may write in."""

    name: str = Field(min_length=1)
    native_name: str = Field(min_length=1)
    codes: Codes
    scripts: list[str] = Field(min_length=1)
    decisive_scripts: list[str] = []
    direction: Literal["ltr", "rtl"]
    tokeniser: str
    word_unit: str = "words"
    key: list[str] = Field(min_length=1)
    stopwords: list[str] = []
    sentence_end: str = Field(min_length=1)
    look_alikes: LookAlikes | None = None
    grammar: str = Field(min_length=1)
    options: Options
    strings: Strings
    status: Literal["draft", "reviewed"]
    notes: list[str] = []

    @field_validator("scripts", "decisive_scripts")
    @classmethod
    def _known_scripts(cls, scripts: list[str]) -> list[str]:
        for script in scripts:
            try:
                regex.compile(rf"\p{{Script={script}}}")
            except regex.error as error:
                raise ValueError(
                    f"{script!r} is not a Unicode script, such as Latin, Arabic, Ethiopic"
                ) from error
        return scripts

    @field_validator("tokeniser")
    @classmethod
    def _known_tokeniser(cls, name: str) -> str:
        if name not in TOKENISERS:
            raise ValueError(f"{name!r} is not known; allowed: {', '.join(TOKENISERS)}")
        return name

    @field_validator("key")
    @classmethod
    def _known_steps(cls, names: list[str]) -> list[str]:
        unknown = [name for name in names if name not in STEPS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not known; allowed: {', '.join(STEPS)}")
        return names

    @field_validator("grammar")
    @classmethod
    def _usable_class(cls, inside: str) -> str:
        try:
            regex.compile(f"[{inside}]")
        except regex.error as error:
            raise ValueError(f"not the inside of a character class: {error}") from error
        return inside


def load_spec(path: Path) -> LanguageSpec:
    """Read and check a language file; ConfigError names the file, the field and what is allowed."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return LanguageSpec.model_validate(data)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise ConfigError(f"{path}: " + "; ".join(problems)) from error
