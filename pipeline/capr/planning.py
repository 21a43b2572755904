"""How long a CAPR build will take: a small build as a pilot, then the whole one's asks counted, not made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pipeline.capr.clustering import k_range
from pipeline.capr.graph import STAGES, inputs, parameters
from pipeline.capr.runner import Runner
from pipeline.llm.chat import LedgerChat
from pipeline.llm.forecast import Forecast, forecast, pace_of
from pipeline.llm.interface import Answer, Ask, Chat, Status

_ASKING = [stage for stage in STAGES if {"chat", "judges"} & set(parameters(stage))]


@dataclass
class _Ear:
    """A chat that notes what it is asked and what came of it; without an inner one nothing is asked."""

    name: str
    identity: str
    inner: Chat | None = None
    asks: list[Ask] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        """Pass the asks on, or say that no server answers."""
        self.asks += asks
        if self.inner is None:
            return [Answer(ask.row_id, Status.SERVER_ERROR, why="not asked") for ask in asks]
        answers = self.inner.ask(asks)
        self.answers += answers
        return answers


@dataclass(frozen=True)
class Pilot:
    """What a small build told: answers by role (a stage's name or "judge NAME"), and items a scenario ask."""

    answers: Mapping[str, Sequence[Answer]]
    items_per_scenario: float


def listen(pilot: Runner) -> Pilot:
    """What the finished stages of a pilot had answered; all of it is in the ledger, so no call is made."""
    ears: dict[str, _Ear] = {}

    def wrap(role: str, chat: Chat) -> Chat:
        return ears.setdefault(role, _Ear(chat.name, chat.identity, chat))

    for stage in _ASKING:
        pilot.rehearse(stage, wrap)
    items = pilot.done["distractors"].kept / max(pilot.done["scenarios"].expected, 1)
    return Pilot({role: ear.answers for role, ear in ears.items()}, items)


def plan(
    whole: Runner, pilot: Pilot, chat: Callable[[str], LedgerChat], slots: Callable[[str], int]
) -> list[Forecast]:
    """One forecast a role, in the order of the stages; `acquire` is run, no model is asked.

    ``chat`` gives the model of a role and ``slots`` how many of its calls run at once. A stage's asks are
    counted, and looked up in the ledger, where the tables it reads exist; scenarios also without labels,
    which do not enter their prompts. Elsewhere their number follows from the pilot.
    """
    whole.run("acquire")
    found: list[Forecast] = []
    scenario_asks = 0
    for stage in [name for name in STAGES if name != "acquire"]:
        known = all(source in whole.done for source in inputs(stage).values())
        ref = whole.peek(stage) if known else None
        if ref:
            whole.done[stage] = ref
        if stage not in _ASKING:
            continue
        if known or stage == "scenarios":
            asks = _asks(whole, stage)
            held = {role: len(a) if ref else len(a) - chat(role).calls_needed(a) for role, a in asks.items()}
            counts = {role: len(a) for role, a in asks.items()}
        else:
            counts = _estimates(whole, stage, round(scenario_asks * pilot.items_per_scenario))
            held = dict.fromkeys(counts, 0)
        if stage == "scenarios":
            scenario_asks = counts["scenarios"]
        for role, count in counts.items():
            pace = pace_of(pilot.answers.get(role, ()))
            estimated = not known and stage != "scenarios"
            found.append(forecast(role, count, held[role], pace, slots(role), estimated=estimated))
    return found


def _asks(whole: Runner, stage: str) -> dict[str, list[Ask]]:
    """What the stage would ask of each role."""
    ears: dict[str, _Ear] = {}

    def wrap(role: str, chat: Chat) -> Chat:
        return ears.setdefault(role, _Ear(chat.name, chat.identity))

    # As if every proverb had a label.
    stand_ins = {} if "label" in whole.done else {"labels": pa.table({"proverb_id": whole.asked})}
    whole.rehearse(stage, wrap, stand_ins)
    return {role: ear.asks for role, ear in ears.items()}


def _estimates(whole: Runner, stage: str, items: int) -> dict[str, int]:
    """How many asks of each role, at most for cluster names."""
    if stage == "judge":
        return {f"judge {judge.name}": items for judge in whole.materials.judges()}
    if whole.materials.frozen:
        return {stage: 0}  # the base's clusters keep their names
    proverbs = len(whole.asked)
    return {stage: k_range(proverbs, proverbs, whole.materials.profile.capr.cluster.k_range).high}
