"""What a reader gets right without understanding: shortcuts a benchmark must not have.

Gated are those who never see the scenario. Those who match its surface with the options' are reported: a key
may well be nearest, and the paper's filter already bounds how near.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pipeline.evaluation.intervals import LEVEL, share_interval

CHANCE = 0.25
MARGIN = 0.05
"""Points above chance that a gate allows."""

LIMIT = CHANCE + MARGIN

Item = Mapping[str, Any]
Verdict = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True)
class Gate:
    """One baseline's accuracy with its 95 % interval, and whether it may stand.

    ``verdict`` is None for a baseline that is reported and decides nothing.
    """

    baseline: str
    accuracy: float
    low: float
    high: float
    limit: float
    verdict: Verdict | None
    proverbs: int
    items: int


def shortcut_gates(items: Sequence[Item], run_seed: int) -> list[Gate]:
    """Each baseline over the items (rows of `curate`); none without items.

    A baseline is right on an item by the share of its favourite options that are the key. It fails when its
    interval's lower end lies above chance + 5 points, passes when the upper end does not, else the items
    are too few to tell: however few, a fair set fails a gate once in forty times at most.
    ``nearest_embedding`` and ``word_overlap`` read the scenario, and ``new_option`` concerns only models
    trained on the train split, so these have no gate.
    """
    gates = [_gate(name, items, credit(items), run_seed) for name, credit in _GATED.items() if items]
    for name, column in _MATCHED.items():
        if items:
            credits = [_credit(item, item[column]) for item in items]
            gates.append(_gate(name, items, credits, run_seed, gated=False))
    test = [item for item in items if item["split"] == "test"]
    if test:
        gates.append(_gate("new_option", test, _new_option(items, test), run_seed, gated=False))
    return gates


def failures(gates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those (as in a run's manifest) that failed."""
    return [gate for gate in gates if gate["verdict"] == "fail"]


def said_of(gate: Mapping[str, Any]) -> str:
    """Accuracy and interval in a few words."""
    return f"{gate['accuracy']:.0%}, interval {gate['low']:.0%} to {gate['high']:.0%}"


def as_records(gates: Sequence[Gate]) -> list[dict[str, Any]]:
    """The gates as a run's manifest holds them."""
    return [asdict(gate) for gate in gates]


def verdict(low: float, high: float) -> Verdict:
    """What an interval says of a shortcut."""
    if low > LIMIT:
        return "fail"
    return "pass" if high <= LIMIT else "undecided"


def _gate(
    name: str, items: Sequence[Item], credits: Sequence[float], run_seed: int, *, gated: bool = True
) -> Gate:
    # The best of four places is chosen after the fact, so each of the four gets a quarter of the error.
    level = 1 - (1 - LEVEL) / 4 if name == "position" else LEVEL
    found = share_interval(credits, [item["proverb_id"] for item in items], run_seed, name, level=level)
    ruling = verdict(found.low, found.high) if gated else None
    return Gate(name, found.share, found.low, found.high, LIMIT, ruling, found.proverbs, found.items)


def _position(items: Sequence[Item]) -> list[float]:
    """Always the place that is the key's most often."""
    place = max(range(4), key=Counter(item["answer"] for item in items).__getitem__)
    return [float(item["answer"] == place) for item in items]


def _longest(items: Sequence[Item]) -> list[float]:
    return [_credit(item, [_length(text) for text in item["options"]]) for item in items]


def _shortest(items: Sequence[Item]) -> list[float]:
    return [_credit(item, [-_length(text) for text in item["options"]]) for item in items]


def _medoid(items: Sequence[Item]) -> list[float]:
    """The option closest to the other three: distractors are chosen around the key, so it may stand out."""
    return [float(item["medoid_rank"] == 0) for item in items]


def _commonest(items: Sequence[Item]) -> list[float]:
    return [_credit(item, counts) for item, counts in zip(items, _times_distractor(items), strict=True)]


def _rarest(items: Sequence[Item]) -> list[float]:
    """The option that serves other proverbs least: one that many are near to is mostly a distractor."""
    return [
        _credit(item, [-count for count in counts])
        for item, counts in zip(items, _times_distractor(items), strict=True)
    ]


def _new_option(items: Sequence[Item], test: Sequence[Item]) -> list[float]:
    """An option that is no key in train: the key of a test item never is, its distractors mostly are."""
    known = {item["proverb_id"] for item in items if item["split"] == "train"}
    return [_credit(item, [int(i not in known) for i in item["option_ids"]]) for item in test]


def _times_distractor(items: Sequence[Item]) -> list[list[int]]:
    """For each option of each item, how many other proverbs have it as a distractor.

    Counting every showing would give any set away: a distractor is shown here and again as a key of its own.
    """
    pairs = {(item["proverb_id"], i) for item in items for i in item["option_ids"] if i != item["proverb_id"]}
    times = Counter(option for _, option in pairs)
    return [[times[i] - (i != item["proverb_id"]) for i in item["option_ids"]] for item in items]


def _credit(item: Item, scores: Sequence[float]) -> float:
    """1 when the key alone has the highest score, a share of 1 when it ties, else 0."""
    best = max(scores)
    return (scores[item["answer"]] == best) / scores.count(best)


def _length(text: str) -> int:
    """Characters, the same however they are composed."""
    return len(unicodedata.normalize("NFC", text))


_GATED: dict[str, Callable[[Sequence[Item]], list[float]]] = {
    "position": _position,
    "longest_option": _longest,
    "shortest_option": _shortest,
    "medoid_option": _medoid,
    "commonest_option": _commonest,
    "rarest_option": _rarest,
}
_MATCHED = {"nearest_embedding": "scenario_similarities", "word_overlap": "scenario_overlaps"}
"""Baselines that read both sides -> the column of which they take the highest."""
