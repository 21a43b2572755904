"""What a build would do now: which stages it would reuse, what changed for the others, how many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from pipeline.capr import graph
from pipeline.capr.clustering import PAPER_K
from pipeline.capr.replay import Replay
from pipeline.capr.runner import Runner
from pipeline.embed.held import NotEmbedded
from pipeline.errors import AdageError
from pipeline.store.key_changes import Change, key_changes
from pipeline.store.stages import KeyParts, build, stage_key, why_absent

State = Literal["hit", "miss", "unknown"]


@dataclass(frozen=True)
class Explained:
    """One stage of the build to come.

    ``state`` is unknown where the stage reads rows that depend on replies still to come; it is a miss all the
    same where something else of its key changed. ``changes`` are against the run compared with. ``calls`` are
    needed when every reply will do, ``most`` when each is asked again to the last attempt; replies in the
    ledger are subtracted. ``stops``: the build ends here, ``note`` says why.
    """

    stage: str
    state: State
    key: str | None
    changes: list[Change]
    note: str
    calls: int = 0
    most: int = 0
    stops: bool = False


def explain(runner: Runner, last: Mapping[str, KeyParts], scratch: Path) -> list[Explained]:
    """Go through the stages as a build would, without a call, writing into ``scratch`` only.

    ``runner`` has chats on a ledger and an embedder that embeds nothing new; ``last`` are the parts of the
    last run's keys, by stage. A missed stage that needs no call is worked out in ``scratch``, so that the
    next ones are known too. Where calls are needed, what follows has bounds: ``calls`` none, ``most`` all.
    """
    replay = Replay()
    quiet = Runner(runner.folder, runner.materials)
    explained: list[Explained] = []
    for stage in graph.STAGES:
        before = last.get(stage, {})
        unknown = [source for source in graph.inputs(stage).values() if source not in quiet.done]
        stop = next((found.stage for found in explained if found.stops), None)
        if stop:
            explained.append(Explained(stage, "unknown", None, [], f"not reached: {stop} stops the build"))
        elif unknown:
            explained.append(_bounded(quiet, stage, before, unknown, replay))
        else:
            explained.append(_known(quiet, stage, before, scratch, replay))
    return explained


def _known(runner: Runner, stage: str, before: KeyParts, scratch: Path, replay: Replay) -> Explained:
    """A stage all of whose inputs are known."""
    parts = runner.parts(stage)
    key, changes = stage_key(parts), key_changes(before, parts) if before else []
    found = runner.peek(stage)
    if found:
        runner.done[stage] = found
        return Explained(stage, "hit", key, changes, "")
    note, stops = why_absent(runner.folder, stage, parts), False
    replay.restart()
    try:
        built = build(scratch, stage, parts, lambda: runner.rehearse(stage, replay.chat))
        if not replay.calls:
            runner.done[stage] = built
    except NotEmbedded:
        note = f"{note}; it reads texts that are not embedded yet"
    except AdageError as error:
        note, stops = f"stops the build: {error}", True
    return Explained(stage, "miss", key, changes, note, replay.calls, replay.most, stops)


def _bounded(runner: Runner, stage: str, before: KeyParts, unknown: list[str], replay: Replay) -> Explained:
    """A stage that reads rows nobody knows yet: what changed besides them, and the most calls it can need."""
    known = {name: runner.done[s].digest for name, s in graph.inputs(stage).items() if s in runner.done}
    parts = {**runner.own_parts(stage), "inputs": known}
    compared = {**before, "inputs": {n: d for n, d in before.get("inputs", {}).items() if n in known}}
    changes = key_changes(compared, parts) if before else []
    built_before = any((runner.folder / stage).glob("*"))
    replay.restart()
    most = _MOST[stage](runner, replay) if stage in _MOST else 0
    note = f"reads rows of {' and '.join(unknown)} that are not known yet"
    state: State = "miss" if changes or not built_before else "unknown"
    return Explained(stage, state, None, changes, note, 0, most)


def _most_names(runner: Runner, replay: Replay) -> int:
    materials = runner.materials
    if materials.frozen:
        return 0
    return min(PAPER_K[1], len(runner.asked)) * materials.profile.roles.name_clusters.attempts


def _most_scenarios(runner: Runner, replay: Replay) -> int:
    """As if every proverb had a label; the ledger's replies are subtracted, for no label enters a prompt."""
    labels = pa.table({"proverb_id": runner.asked})
    runner.rehearse("scenarios", replay.chat, {"labels": labels})
    return replay.most


def _most_judgements(runner: Runner, replay: Replay) -> int:
    """As if every scenario that may still come became an item none of whose judgements is in the ledger."""
    profile = runner.materials.profile
    done = next((runner.done[stage] for stage in ("filter", "scenarios") if stage in runner.done), None)
    items = done.kept if done else len(runner.asked) * profile.capr.scenarios.domains
    return items * sum(judge.attempts for judge in profile.roles.judges)


_MOST: dict[str, Callable[[Runner, Replay], int]] = {
    "name_clusters": _most_names,
    "scenarios": _most_scenarios,
    "judge": _most_judgements,
}
"""The most calls of a stage that asks models and whose rows are not known yet."""
