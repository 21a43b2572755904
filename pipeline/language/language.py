"""A language at work: words, keys, overlap, verdicts, all from its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import stopwordsiso

from pipeline.language.identifiers import LangdetectIdentifier
from pipeline.language.identify import SCRIPT_SHARE, Identifier, Judge, Verdict
from pipeline.language.keys import compile_key
from pipeline.language.sentences import compile_splitter
from pipeline.language.spec import LanguageSpec, Strings, load_spec
from pipeline.language.tokenisers import SEPARATOR, TOKENISER_PACKAGES, TOKENISERS
from pipeline.store.files import digest_json

_KNOWN_WORDS = 65536
_SHORT = 8
_NOTHING = frozenset({""})


@dataclass(frozen=True)
class TextFacts:
    """What one pass over a text finds; two of them are enough to compare two texts.

    ``content`` holds the keys of its words in base form, without stopwords.
    """

    text: str
    words: tuple[str, ...]
    content: frozenset[str]
    key: str
    verdict: Verdict
    word_spaces: bool = True

    @property
    def word_count(self) -> int:
        """Words by the language's tokeniser."""
        return len(self.words)

    def quotes(self, proverb: TextFacts) -> bool:
        """Whether the proverb stands in this text, spelled or spaced in any way its key allows."""
        return _stands_in(proverb.key, self.key, self.word_spaces)

    def overlap_with(self, proverb: TextFacts) -> float:
        """Share of the proverb's distinct content words that occur here; 1.0 when it is quoted whole."""
        if self.quotes(proverb):
            return 1.0
        if not proverb.content:
            return 0.0
        return len(proverb.content & self.content) / len(proverb.content)


class Language:
    """One language, made from its file."""

    def __init__(self, code: str, spec: LanguageSpec, identifier: Identifier | None = None) -> None:
        self.code = code
        self.spec = spec
        self.key = compile_key(spec.key)
        """text -> its comparison key: equal for spellings of one text; the key of a key is itself."""
        self.sentences = compile_splitter(spec.sentence_end)
        """text -> its sentences, each with its closing punctuation."""
        self._content_keys: dict[str, str] = {}
        self._tokenise = TOKENISERS[spec.tokeniser]
        self._identifier = identifier
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
        """Question, instruction and headings shown in evaluation."""
        return self.spec.strings

    @property
    def libraries(self) -> tuple[str, ...]:
        """Packages that decide which words a text has and which of them carry content."""
        shipped = ("stopwordsiso",) if self.spec.codes.stopwordsiso else ()
        return (*shipped, *TOKENISER_PACKAGES.get(self.spec.tokeniser, ()))

    @cached_property
    def digest(self) -> str:
        """Digest of the file's data (comments and layout do not count) and of a model given for it."""
        data = self.spec.model_dump(mode="json")
        return digest_json([data, self._identifier.identity] if self._identifier else data)

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """Keys of words that carry no content: stopwordsiso's, where it has any, and the file's."""
        code = self.spec.codes.stopwordsiso
        shipped = stopwordsiso.stopwords(code) if code else set()
        return frozenset(self.key(word) for word in {*shipped, *self.spec.stopwords})

    def tokenise(self, text: str) -> list[str]:
        """The words of a text, punctuation left out. PrerequisiteError where a package is missing."""
        return self._tokenise(text)[0]

    def word_count(self, text: str) -> int:
        """How many words a text has."""
        return len(self._tokenise(text)[0])

    def content_words(self, text: str) -> frozenset[str]:
        """Keys of a text's words in base form, without stopwords."""
        return self._content(self._tokenise(text)[1])

    def identify(self, text: str, least_share: float = SCRIPT_SHARE) -> Verdict:
        """Whether a text is in the language, with the evidence."""
        return self._judge.verdict(text, least_share)

    def overlap(self, proverb: str, text: str) -> float:
        """Share of the proverb's distinct content words that occur in the text; 1.0 when it is quoted."""
        return self.analyse(text).overlap_with(self.analyse(proverb))

    def analyse(self, text: str, least_share: float = SCRIPT_SHARE) -> TextFacts:
        """Everything at once: the text is tokenised, keyed and identified exactly once."""
        words, bases = self._tokenise(text)
        return TextFacts(
            text,
            tuple(words),
            self._content(bases),
            self.key(text),
            self._judge.verdict(text, least_share),
            self.spec.word_spaces,
        )

    def quotes(self, text: str, proverb: str) -> bool:
        """Whether the proverb stands in the text, spelled or spaced in any way its key allows."""
        return _stands_in(self.key(proverb), self.key(text), self.spec.word_spaces)

    def proverb_key(self, text: str) -> str:
        """The key that all spellings of one proverb share.

        Without blanks where the language writes none between words: 七転び、八起き is 七転び八起き.
        """
        key = self.key(text)
        return key if self.spec.word_spaces else key.replace(" ", "")

    def grammar_pattern(self, most_characters: int, least_characters: int = 1) -> str:
        """A JSON schema pattern of the characters that texts in this language are written with."""
        return f"^[{self.spec.grammar}]{{{least_characters},{most_characters}}}$"

    def _content(self, bases: Sequence[str]) -> frozenset[str]:
        # The dict is taken once, so that another thread may start a new one meanwhile.
        known = self._content_keys
        fresh = [base for base in bases if base not in known]
        if fresh:
            if len(known) > _KNOWN_WORDS:
                self._content_keys = {}
            # All new words in one pass: a key made word by word costs ten times as much.
            keys = self.key(SEPARATOR.join(fresh)).split(SEPARATOR)
            stopwords = self.stopwords
            stripped = (key.strip() for key in keys)
            known.update(zip(fresh, ("" if key in stopwords else key for key in stripped), strict=True))
        found = frozenset([known[base] for base in bases])
        return found - _NOTHING if "" in found else found


def _stands_in(proverb: str, text: str, word_spaces: bool) -> bool:
    """Whether one key stands in another.

    A short one must stand between blanks where the language writes them: "a man" is not in "Oman".
    """
    tight = proverb.replace(" ", "")
    if not tight:
        return False
    if word_spaces and len(tight) < _SHORT:
        return f" {proverb} " in f" {text} "
    return proverb in text or tight in text.replace(" ", "")


def load_language(path: Path, identifier: Identifier | None = None) -> Language:
    """The language whose file this is; its code is the folder's name. ConfigError names file and field."""
    return Language(path.resolve().parent.name, load_spec(path), identifier)
