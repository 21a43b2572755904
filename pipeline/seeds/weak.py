"""Meanings that would make poor scenarios: missing, too short, telling the proverb again, given twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.language.language import Language
from pipeline.seeds.groups import group_of
from pipeline.seeds.meaning import meaning_of

LEAST_WORDS = 4
"""A meaning of fewer words seldom says when one would use the proverb (our choice)."""

REASONS = {
    "no_meaning": "have no meaning: a build rejects them",
    "english_stands_in": "have no meaning in the language: the English one stands in",
    "equals_proverb": "have a meaning that is the proverb itself",
    "contains_proverb": "have a meaning that contains the proverb: a scenario may give it away",
    "very_short": f"have a meaning of fewer than {LEAST_WORDS} words",
    "same_meaning": "have a meaning that another proverb has too: two right answers",
}
"""Slug -> what it says of so many proverbs."""


@dataclass(frozen=True)
class WeakMeaning:
    """One thing that is wrong with one meaning; ``of`` is the earlier proverb with the same one."""

    proverb_id: str
    text: str
    reason: str
    meaning: str
    of: str = ""


def weak_meanings(seeds: Sequence[Mapping[str, str]], language: Language) -> list[WeakMeaning]:
    """Every weakness of every seed row's meaning, in the order of ``REASONS``, then of the rows.

    Texts are compared by key, so spelling does not hide that two are the same. Proverbs marked as variants
    of each other may share a meaning.
    """
    found: list[WeakMeaning] = []
    first: dict[str, Mapping[str, str]] = {}
    variant_of = {row["proverb_id"]: row["variant_of"] for row in seeds}
    for row in seeds:
        meaning, origin = meaning_of(row, language)
        key = language.key(meaning)
        reasons = _reasons(row["text"], meaning, origin, language)
        found += [WeakMeaning(row["proverb_id"], row["text"], reason, meaning) for reason in reasons]
        earlier = first.setdefault(key, row) if key else row
        of = earlier["proverb_id"]
        if group_of(of, variant_of) != group_of(row["proverb_id"], variant_of):
            found.append(WeakMeaning(row["proverb_id"], row["text"], "same_meaning", meaning, of))
    order = list(REASONS)
    return sorted(found, key=lambda weak: order.index(weak.reason))


def _reasons(text: str, meaning: str, origin: str, language: Language) -> list[str]:
    if not meaning:
        return ["no_meaning"]
    reasons = [] if origin == "native" else ["english_stands_in"]
    if language.key(meaning) == language.key(text):
        return [*reasons, "equals_proverb"]
    if language.quotes(meaning, text):
        reasons.append("contains_proverb")
    if language.word_count(meaning) < LEAST_WORDS:
        reasons.append("very_short")
    return reasons
