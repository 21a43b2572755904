"""A language at work: words, keys, overlap, verdicts, all from its file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import stopwordsiso

from pipeline.language.identify import Identifier, Judge, LangdetectIdentifier, Verdict
from pipeline.language.keys import STEPS, comparison_key
from pipeline.language.spec import LanguageSpec, Strings, load_spec
from pipeline.language.tokenisers import TOKENISERS
from pipeline.store.files import digest_json


@dataclass(frozen=True)
class TextFacts:
    """What one pass over a text finds; two of them are enough to compare two texts."""

    text: str
    words: tuple[str, ...]
    content: frozenset[str]
    key: str
    verdict: Verdict

    @property
    def word_count(self) -> int:
        """Words by the language's tokeniser."""
        return len(self.words)

    def overlap_with(self, proverb: TextFacts) -> float:
        """Share of the proverb's distinct content words that occur here; 1.0 when it is quoted whole."""
        if proverb.key and _tight(proverb.key) in _tight(self.key):
            return 1.0
        if not proverb.content:
            return 0.0
        return len(proverb.content & self.content) / len(proverb.content)


class Language:
    """One language, made from its file."""

    def __init__(self, code: str, spec: LanguageSpec, identifier: Identifier | None = None) -> None:
        self.code = code
        self.spec = spec
        self._tokenise = TOKENISERS[spec.tokeniser]
        self._steps = [STEPS[name] for name in spec.key]
        self._judge = Judge(spec, identifier or LangdetectIdentifier())

    @property
    def name(self) -> str:
        """English name."""
        return self.spec.name

    @property
    def native_name(self) -> str:
        """The language's name for itself."""
        return self.spec.native_name

    @property
    def direction(self) -> str:
        """ltr or rtl."""
        return self.spec.direction

    @property
    def strings(self) -> Strings:
        """Question and instruction shown in evaluation."""
        return self.spec.strings

    @cached_property
    def digest(self) -> str:
        """Digest of the file's data; comments and layout do not count."""
        return digest_json(self.spec.model_dump(mode="json"))

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """Keys of words that carry no content: stopwordsiso's, where it has any, and the file's."""
        code = self.spec.codes.stopwordsiso
        shipped = stopwordsiso.stopwords(code) if code else set()
        return frozenset(self.key(word) for word in {*shipped, *self.spec.stopwords})

    def tokenise(self, text: str) -> list[str]:
        """The words of a text, punctuation left out."""
        return [surface for surface, _ in self._tokenise(text)]

    def word_count(self, text: str) -> int:
        """How many words a text has."""
        return len(self._tokenise(text))

    def key(self, text: str) -> str:
        """The comparison key: equal for spellings of one text, idempotent."""
        return comparison_key(text, self._steps)

    def content_words(self, text: str) -> frozenset[str]:
        """Keys of a text's words in base form, without stopwords."""
        return self._content(self._tokenise(text))

    def identify(self, text: str) -> Verdict:
        """Whether a text is in the language, with the evidence."""
        return self._judge.verdict(text)

    def overlap(self, proverb: str, text: str) -> float:
        """Share of the proverb's distinct content words that occur in the text."""
        return self.analyse(text).overlap_with(self.analyse(proverb))

    def analyse(self, text: str) -> TextFacts:
        """Everything at once: the text is tokenised, keyed and identified exactly once."""
        tokens = self._tokenise(text)
        return TextFacts(
            text, tuple(t[0] for t in tokens), self._content(tokens), self.key(text), self.identify(text)
        )

    def grammar_pattern(self, most_characters: int, least_characters: int = 1) -> str:
        """A JSON schema pattern of the characters that texts in this language are written with."""
        return f"^[{self.spec.grammar}]{{{least_characters},{most_characters}}}$"

    def _content(self, tokens: list[tuple[str, str]]) -> frozenset[str]:
        keys = {self.key(base) for _, base in tokens} - self.stopwords
        keys.discard("")
        return frozenset(keys)


def load_language(path: Path, identifier: Identifier | None = None) -> Language:
    """The language whose file this is; its code is the name of the folder."""
    return Language(path.parent.name, load_spec(path), identifier)


def _tight(key: str) -> str:
    return key.replace(" ", "")
