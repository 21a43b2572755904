"""What a native speaker looks at: how their sentences are split, keyed, counted and judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.html import html_templates
from pipeline.language.identifiers import LangdetectIdentifier
from pipeline.language.language import Language, TextFacts

_TEMPLATES = Path(__file__).parent / "templates"
_CANDIDATES = 8


@dataclass(frozen=True)
class Checked:
    """One text and what was found: ``content`` are keys, ``not_allowed`` characters the grammar lacks."""

    facts: TextFacts
    sentences: tuple[str, ...]
    content: tuple[str, ...]
    not_allowed: str


def check_texts(language: Language, texts: Sequence[str]) -> list[Checked]:
    """Look at each text as a build would."""
    allowed = re.compile(f"[{language.spec.grammar}]")
    checked = []
    for text in texts:
        facts = language.analyse(text)
        not_allowed = "".join(sorted({c for c in text if not allowed.match(c)}))
        sentences = tuple(language.sentences(text))
        checked.append(Checked(facts, sentences, tuple(sorted(facts.content)), not_allowed))
    return checked


def advice(language: Language, checked: Sequence[Checked]) -> list[str]:
    """What in the language file may need a change, one sentence each, with the field to change."""
    found: list[str] = []
    refused = [row for row in checked if row.facts.verdict.verdict == "no"]
    if refused:
        reasons = Counter(row.facts.verdict.reason for row in refused)
        listed = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        found.append(f"{len(refused)} of {len(checked)} texts would be refused: {listed}.")
    mistaken = _mistaken(language, checked)
    if mistaken:
        listed = ", ".join(f"{code} ({count})" for code, count in mistaken.most_common())
        found.append(
            f"langdetect takes texts for {listed}. If they are {language.name}, add these codes to "
            "mistaken_for; then what it is sure is another language can be refused."
        )
    taken = [row for row in checked if row not in refused]
    missing = Counter(character for row in taken for character in row.not_allowed)
    if missing:
        listed = " ".join(_shown(character) for character, _ in missing.most_common(20))
        found.append(f"Characters that grammar lacks: {listed}. Add those that belong to the language.")
    if not language.stopwords:
        words = Counter(word for row in taken for word in row.content)
        frequent = [word for word, count in words.most_common(_CANDIDATES) if count > 1]
        listed = f"; frequent here: {', '.join(frequent)}" if frequent else ""
        found.append(f"There are no stopwords, so every word counts as content{listed}.")
    return found


def page(language: Language, checked: Sequence[Checked]) -> str:
    """The same as one HTML file, to print or send: no script, nothing loaded from elsewhere."""
    return (
        html_templates(_TEMPLATES)
        .get_template("check.html")
        .render(language=language, checked=checked, advice=advice(language, checked))
    )


def _mistaken(language: Language, checked: Sequence[Checked]) -> Counter[str]:
    if language.spec.codes.langdetect:
        return Counter()
    identifier = LangdetectIdentifier()
    guesses = (identifier.guess(row.facts.text) for row in checked if len(row.facts.text) >= 20)
    best = (max(guess, key=lambda code: guess[code]) for guess in guesses if guess)
    return Counter(code for code in best if code not in language.spec.mistaken_for)


def _shown(character: str) -> str:
    return character if character.isprintable() and not character.isspace() else f"U+{ord(character):04X}"
