"""Is this text in the language? A verdict with its evidence; what cannot be told is `undecided`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import regex

from pipeline.language.spec import LanguageSpec

SCRIPT_SHARE = 0.70
"""Share of letters that must be in the language's scripts (ADAGE paper, section 3.2)."""

LEAST_LETTERS = 20
"""Letters (for statistics with their marks) below which a text is short."""

SURE_LETTERS = 30
"""Letters from which statistics may say no. Between 20 and 30 letters langdetect, always sure of itself, took
1 to 4 % of real English and colloquial Indonesian sentences for other languages; from 30 on, none of 460."""

SURE = 0.90
"""Probability from which an identifier's other language means no."""

FOREIGN_SHARE = 0.05
"""Share of letters from which another language's letters count; a borrowed name stays below in a sentence."""

OWN_SHARE = 0.03
DECISIVE_SHARE = 0.10
"""Share of a script that decides: Japanese prose is a third kana and more; Chinese writes の on signs."""

_LETTERS = regex.compile(r"\p{L}+")
_NO_WORD = regex.compile(r"[^\p{L}\p{M}]+")
_ADDRESS = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}])(?:(?:https?://|www\.)[\p{L}\p{N}]\S*|[\p{L}\p{N}][\w.+-]*@[\p{L}\p{N}][\w.-]*\.\p{L}+)"
)


@dataclass(frozen=True)
class Verdict:
    """``script_share`` is over letters only, None where there are none; ``evidence`` holds the counts."""

    verdict: Literal["yes", "no", "undecided"]
    script_share: float | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


class Identifier(Protocol):
    """Guesses the language of a text by statistics."""

    @property
    def identity(self) -> str:
        """What decides its answers: name and version, or a model file's digest."""
        ...

    def names(self, spec: LanguageSpec) -> frozenset[str]:
        """The names it has for a language; empty where it does not know it."""
        ...

    def mistakes(self, spec: LanguageSpec) -> frozenset[str]:
        """Other languages that it takes this one for: such an answer says nothing."""
        ...

    def guess(self, text: str) -> dict[str, float]:
        """Name -> probability; {} where it cannot tell. The same text always gets the same answer."""
        ...


class Judge:
    """Decides for one language; built once, used for many texts."""

    def __init__(self, spec: LanguageSpec, identifier: Identifier) -> None:
        self._spec = spec
        self._identifier = identifier
        self._names = identifier.names(spec)
        self._mistakes = identifier.mistakes(spec)
        self._script = _counting(spec.scripts, "")
        self._decisive = _counting(spec.decisive_scripts, "")
        self._script_names = " or ".join(spec.scripts)
        self._decisive_names = " or ".join(spec.decisive_scripts)
        self._all_decisive = spec.decisive_scripts == spec.scripts
        self._own = _counting([], spec.own_letters)
        self._foreign = [(_counting(other.scripts, other.letters), other) for other in spec.look_alikes]

    def verdict(self, text: str, least_share: float = SCRIPT_SHARE) -> Verdict:
        """The verdict on one text. Letters count; punctuation, digits, emoji and web addresses do not."""
        text = unicodedata.normalize("NFC", text)
        if "://" in text or "www." in text or "@" in text:
            text = _ADDRESS.sub(" ", text)
        # Half-width and presentation forms are letters already; normalising after the choice keeps signs such
        # as ™ from turning into letters.
        letters = unicodedata.normalize("NFKC", "".join(_LETTERS.findall(text)))
        if not letters:
            return Verdict("undecided", None, "no letters")
        in_script = self._script(letters)
        share = in_script / len(letters)
        evidence: dict[str, Any] = {"letters": len(letters), "script_share": round(share, 4)}
        if len(letters) == 1:
            return Verdict("undecided", share, "a single letter", evidence)
        if share < least_share:
            return Verdict("no", share, f"{share:.0%} of its letters are {self._script_names}", evidence)
        return (
            self._by_look_alikes(letters, share, evidence)
            or self._by_script(letters, in_script, share, evidence)
            or self._by_statistics(text, share, evidence)
            or self._by_own_letters(letters, share, evidence)
        )

    def _by_look_alikes(self, letters: str, share: float, evidence: dict[str, Any]) -> Verdict | None:
        for count, other in self._foreign:
            found = count(letters)
            if not found or found / len(letters) < FOREIGN_SHARE:
                continue
            if other.keyboard:
                evidence["other_keyboard"] = found
                continue
            evidence["look_alikes"] = found
            # One borrowed letter in a short text may be a name (چاي); two are not.
            if found >= 2 or len(letters) >= LEAST_LETTERS:
                return Verdict("no", share, f"{found} letters of {other.of}", evidence)
            return Verdict("undecided", share, f"short, with {found} letter of {other.of}", evidence)
        return None

    def _by_script(
        self, letters: str, in_script: int, share: float, evidence: dict[str, Any]
    ) -> Verdict | None:
        if not self._spec.decisive_scripts:
            return None
        found = in_script if self._all_decisive else self._decisive(letters)
        names = self._decisive_names
        evidence["decisive_letters"] = found
        if found / len(letters) >= DECISIVE_SHARE:
            return Verdict("yes", share, f"{found} of {len(letters)} letters are {names}", evidence)
        if not found and len(letters) >= LEAST_LETTERS:
            return Verdict("no", share, f"none of {len(letters)} letters is {names}", evidence)
        return Verdict("undecided", share, f"{found} of {len(letters)} letters are {names}", evidence)

    def _by_statistics(self, text: str, share: float, evidence: dict[str, Any]) -> Verdict | None:
        if not (self._names or self._mistakes):
            return None
        # Blanks keep words apart; anything else that is no letter would sway the statistics.
        words = _NO_WORD.sub(" ", text).strip()
        # With marks: a Devanagari vowel is one and says as much as a letter.
        length = len(words) - words.count(" ")
        if length < LEAST_LETTERS:
            return None
        guesses = self._identifier.guess(words)
        if not guesses:
            return None
        best = max(guesses, key=lambda name: guesses[name])
        evidence["identified"] = {best: round(guesses[best], 3)}
        if best in self._names:
            return Verdict("yes", share, f"identified as {best}", evidence)
        if "other_keyboard" in evidence:
            # ی and ک alone may be a Persian keyboard; with the statistics they are Persian, be it short.
            sure = guesses[best] >= SURE
        else:
            sure = guesses[best] >= SURE and length >= SURE_LETTERS and best not in self._mistakes
        return Verdict("no", share, f"identified as {best}", evidence) if sure else None

    def _by_own_letters(self, letters: str, share: float, evidence: dict[str, Any]) -> Verdict:
        own = self._own(letters)
        if own >= 2 and own / len(letters) >= OWN_SHARE and "other_keyboard" not in evidence:
            evidence["own_letters"] = own
            return Verdict("yes", share, f"{own} letters that are {self._spec.name} only", evidence)
        short = "short" if len(letters) < LEAST_LETTERS else "nothing tells it from its neighbours"
        return Verdict("undecided", share, f"script fits; {short}", evidence)


def _counting(scripts: Sequence[str], letters: str) -> Callable[[str], int]:
    """A function text -> how many of its characters are of these scripts or among these letters."""
    if not scripts and not letters:
        return lambda text: 0
    # Script extensions, because the long-vowel mark ー or tatweel belongs to several scripts.
    inside = "".join(rf"\p{{scx={script}}}" for script in scripts) + re.escape(letters)
    # The standard library's engine looks letters up in a bitmap, but knows no scripts.
    found = regex.compile(f"[{inside}]+").findall if scripts else re.compile(f"[{inside}]+").findall
    return lambda text: len("".join(found(text)))
