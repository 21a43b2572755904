"""Is this text in the language? A verdict with its evidence; what cannot be told is `undecided`."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol

import regex
from langdetect import DetectorFactory
from langdetect.detector_factory import PROFILES_DIRECTORY
from langdetect.lang_detect_exception import LangDetectException

from pipeline.language.spec import LanguageSpec

SCRIPT_SHARE = 0.70
"""Share of letters that must be in the language's scripts (ADAGE paper, section 3.2)."""

LEAST_LETTERS = 20
"""Letters below which statistics say nothing: shorter texts are decided by script alone or not at all."""

SURE = 0.90
FOREIGN_SHARE = 0.05
_LETTER = regex.compile(r"\p{L}")


@dataclass(frozen=True)
class Verdict:
    """``script_share`` is over letters only, None where there are none; ``evidence`` names what decided."""

    verdict: Literal["yes", "no", "undecided"]
    script_share: float | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


class Identifier(Protocol):
    """Guesses a text's language: code -> probability, {} where it cannot tell."""

    def guess(self, text: str) -> dict[str, float]:
        """Probabilities by language code."""
        ...


class LangdetectIdentifier:
    """The langdetect library, seeded: the same text always gets the same answer."""

    def guess(self, text: str) -> dict[str, float]:
        """Probabilities by langdetect's own codes."""
        detector = _factory().create()
        try:
            detector.append(text)
            return {found.lang: float(found.prob) for found in detector.get_probabilities()}
        except LangDetectException:
            # It raises on texts without letters it knows, all of Ethiopic among them.
            return {}


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _loaded_factory() -> Any:
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


def _factory() -> Any:
    with _lock:
        return _loaded_factory()


class Judge:
    """Decides for one language; built once, used for many texts."""

    def __init__(self, spec: LanguageSpec, identifier: Identifier) -> None:
        self._spec = spec
        self._identifier = identifier
        self._script = regex.compile("[" + "".join(rf"\p{{scx={s}}}" for s in spec.scripts) + "]")
        decisive = spec.decisive_scripts
        self._decisive = (
            regex.compile("[" + "".join(rf"\p{{Script={s}}}" for s in decisive) + "]") if decisive else None
        )
        self._foreign = frozenset(spec.look_alikes.letters) if spec.look_alikes else frozenset()

    def verdict(self, text: str, least_share: float = SCRIPT_SHARE) -> Verdict:
        """The verdict on one text. Punctuation, digits, emoji and directional marks never count."""
        letters = "".join(_LETTER.findall(unicodedata.normalize("NFKC", text)))
        if not letters:
            return Verdict("undecided", None, "no letters")
        share = len(self._script.findall(letters)) / len(letters)
        evidence: dict[str, Any] = {"letters": len(letters), "script_share": round(share, 4)}
        if share < least_share:
            return Verdict(
                "no", share, f"{share:.0%} of its letters are {' or '.join(self._spec.scripts)}", evidence
            )
        foreign = sum(letter in self._foreign for letter in letters)
        if foreign and foreign / len(letters) >= FOREIGN_SHARE and self._spec.look_alikes:
            evidence["look_alikes"] = foreign
            return Verdict("no", share, f"{foreign} letters of {self._spec.look_alikes.of}", evidence)
        if self._decisive:
            return self._by_script(letters, share, evidence)
        return self._by_statistics(text, letters, share, evidence)

    def _by_script(self, letters: str, share: float, evidence: dict[str, Any]) -> Verdict:
        assert self._decisive is not None
        found = len(self._decisive.findall(letters))
        names = " or ".join(self._spec.decisive_scripts)
        evidence["decisive_letters"] = found
        if found:
            return Verdict("yes", share, f"{found} letters of {names}", evidence)
        if len(letters) < LEAST_LETTERS:
            return Verdict("undecided", share, f"short, and no letter of {names}", evidence)
        return Verdict("no", share, f"no letter of {names} in {len(letters)}", evidence)

    def _by_statistics(self, text: str, letters: str, share: float, evidence: dict[str, Any]) -> Verdict:
        code = self._spec.codes.langdetect
        if code is None:
            return Verdict("undecided", share, "script fits; no identifier knows the language", evidence)
        if len(letters) < LEAST_LETTERS:
            return Verdict(
                "undecided", share, f"script fits; {len(letters)} letters are too few to tell", evidence
            )
        # Blanks keep words apart; everything else that is no letter would sway the n-grams.
        guesses = self._identifier.guess(regex.sub(r"[^\p{L}\p{M}]+", " ", text).strip())
        if not guesses:
            return Verdict("undecided", share, "script fits; the identifier cannot tell", evidence)
        best = max(guesses, key=lambda name: guesses[name])
        evidence["identified"] = {best: round(guesses[best], 3)}
        if best == code:
            return Verdict("yes", share, f"identified as {best}", evidence)
        if guesses[best] >= SURE:
            return Verdict("no", share, f"identified as {best}", evidence)
        return Verdict("undecided", share, f"perhaps {best}", evidence)
