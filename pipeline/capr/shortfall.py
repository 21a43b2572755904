"""Why a build made fewer items than its seeds, or its proverbs and domains, allow; in a sentence each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Stage -> what its rejections cost; of `curate` only those that were asked for.
_LOSSES = {
    "label": "for want of a theme label",
    "scenarios": "for want of a scenario",
    "filter": "filtered out",
    "distractors": "for want of distractors",
    "curate": "left out as flagged",
}


def shortfall(stages: Sequence[Mapping[str, Any]]) -> str:
    """The sentence for a run manifest's ``stages``; "" where every possible item was made.

    Possible are the selected proverbs that are new to the base dataset, each in every domain. A proverb
    without a label costs an item a domain, every other rejection one item.
    """
    by_name = {stage["name"]: stage for stage in stages}
    acquired = by_name["acquire"]["facts"]
    domains = len(by_name["scenarios"]["facts"]["domains"])
    possible = (acquired["selected"] - acquired["in_base"]) * domains
    losses: list[str] = []
    lost = 0
    for name, words in _LOSSES.items():
        reasons = dict(by_name[name]["reasons"])
        if name == "curate":
            reasons = {reason: count for reason, count in reasons.items() if reason == "flagged"}
        each = domains if name == "label" else 1
        count = sum(reasons.values()) * each
        if count:
            why = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items(), key=lambda r: -r[1]))
            losses.append(f"{count} {words} ({why})")
            lost += count
    if not lost:
        return ""
    made = possible - lost
    return f"{made or 'none'} of {possible} possible items made: {', '.join(losses)}"


def past_limit(stages: Sequence[Mapping[str, Any]]) -> str:
    """How many usable proverbs the limit left out; "" where none. A base dataset's are never left out."""
    [acquired] = [stage for stage in stages if stage["name"] == "acquire"]
    usable, selected = acquired["rows_kept"], acquired["facts"]["selected"]
    if usable == selected:
        return ""
    return (
        f"{usable - selected} of {usable} usable proverbs are past the limit and not in this build "
        "(--limit-proverbs, or capr.acquire.limit in the profile)"
    )
