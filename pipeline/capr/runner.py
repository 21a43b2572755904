"""Runs CAPR stages by key: what a stage is given, what decides its output, and whether it exists already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.capr import graph
from pipeline.capr.base import Base
from pipeline.capr.judge import Judge
from pipeline.embed.interface import Embedder
from pipeline.language.language import Language
from pipeline.llm.interface import Chat
from pipeline.profile import Profile
from pipeline.prompts import Prompt
from pipeline.seeds.table import SeedRow
from pipeline.store.code import code_digest
from pipeline.store.files import digest_json
from pipeline.store.result import StageResult
from pipeline.store.stages import KeyParts, StageRef, find, find_or_build, schema_digest

LOADED_CODE = {
    stage: code_digest(function.__module__, Path(__file__).resolve().parents[2])
    for stage, function in graph.STAGES.items()
}
"""Digest of each stage's code, taken when it is loaded: what a long run makes after an edit on disk is still
made by the old code, and must not be found under the key of the new."""


@dataclass(frozen=True)
class Materials:
    """Everything a build works with, besides the tables its stages hand on.

    ``chat`` gives the model of a stage, ``judges`` the jury; both are called only for stages that need them.
    ``base`` is the base dataset that grows, or that is clustered anew (``recluster``); ``calls`` counts
    model calls so far, ``seen`` says by role what a stage's replies showed of its models.
    """

    profile: Profile
    language: Language
    seeds: Sequence[SeedRow]
    frozen_splits: Sequence[Mapping[str, str]]
    prompts: Mapping[str, Prompt]
    embedder: Embedder
    chat: Callable[[str], Chat]
    judges: Callable[[], Sequence[Judge]]
    calls: Callable[[], Mapping[str, int]]
    seen: Callable[[str], Mapping[str, Any]]
    base: Base | None = None
    recluster: bool = False

    @property
    def frozen(self) -> Base | None:
        """The base whose clusters and items are kept: none when they are made anew."""
        return None if self.recluster else self.base

    @property
    def splits(self) -> Sequence[Mapping[str, str]]:
        """The frozen splits; new clusters do not move a base's proverbs to other splits."""
        if self.base is None or not self.recluster:
            return self.frozen_splits
        written = {row["proverb_id"] for row in self.frozen_splits}
        of_base = [
            {"proverb_id": i, "split": s, "since": self.base.version}
            for i, s in sorted(self.base.splits.items())
            if i not in written
        ]
        return [*self.frozen_splits, *of_base]


@dataclass
class Runner:
    """Builds stages into ``folder``; ``announce`` hears of each start.

    ``done`` holds the finished stages, ``made_of`` the parts of the keys they were run under.
    """

    folder: Path
    materials: Materials
    done: dict[str, StageRef] = field(default_factory=dict)
    made_of: dict[str, KeyParts] = field(default_factory=dict)
    announce: Callable[[str], None] = lambda stage: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stage: str) -> StageRef:
        """The stage's artifact, reused or built; all stages it reads must be done."""
        with self._lock:
            self.announce(stage)
            parts = self.parts(stage)
            ref = find_or_build(
                self.folder,
                stage,
                parts,
                lambda: self._build(stage),
                self.materials.calls,
            )
            self.done[stage], self.made_of[stage] = ref, parts
            return ref

    @property
    def asked(self) -> list[str]:
        """The proverbs a model is asked about: those within the limit that a base dataset does not have.

        Stage `acquire` must be done.
        """
        rows = self.done["acquire"].table().to_pylist()
        return [row["proverb_id"] for row in rows if row["selected"] and not row["in_base"]]

    def peek(self, stage: str) -> StageRef | None:
        """The stage's artifact when it exists under today's key."""
        return find(self.folder, stage, self.parts(stage))

    def parts(self, stage: str) -> KeyParts:
        """What decides the stage's output, by component; all stages it reads must be done."""
        digests = {name: self.done[source].digest for name, source in graph.inputs(stage).items()}
        return {**self.own_parts(stage), "inputs": digests}

    def own_parts(self, stage: str) -> KeyParts:
        """What decides the stage's output besides the tables it reads."""
        described = {name: self._describe(stage, name) for name in graph.parameters(stage)}
        of_language = self.materials.language.libraries if "language" in described else ()
        return {
            "stage": stage,
            "given": {name: value for name, value in described.items() if value is not None},
            "schema": schema_digest(stage),
            "code": LOADED_CODE[stage],
            "libraries": {name: _version(name) for name in sorted({*graph.LIBRARIES[stage], *of_language})},
        }

    def _build(self, stage: str) -> StageResult:
        result = self._call(stage, self.materials, self._tables(stage))
        seen = self.materials.seen(stage)
        return replace(result, facts={**result.facts, "models": seen}) if seen else result

    def rehearse(
        self, stage: str, wrap: Callable[[str, Chat], Chat], stand_ins: Mapping[str, pa.Table] | None = None
    ) -> StageResult:
        """Call a stage with every chat of its wrapped (role, chat); what it makes is kept nowhere.

        ``stand_ins`` are tables, by parameter, in place of stages that are not done.
        """
        real = self.materials
        wrapped = replace(
            real,
            chat=lambda role: wrap(role, real.chat(role)),
            judges=lambda: [replace(j, chat=wrap(f"judge {j.name}", j.chat)) for j in real.judges()],
        )
        return self._call(stage, wrapped, self._tables(stage, stand_ins or {}))

    def _tables(self, stage: str, stand_ins: Mapping[str, pa.Table] = {}) -> dict[str, pa.Table]:
        return {
            name: stand_ins[name] if name in stand_ins else self.done[source].table()
            for name, source in graph.inputs(stage).items()
        }

    @staticmethod
    def _call(stage: str, materials: Materials, tables: Mapping[str, pa.Table]) -> StageResult:
        given = {
            name: _GIVEN[name](materials, stage) for name in graph.parameters(stage) if name not in tables
        }
        return graph.STAGES[stage](**tables, **given)

    def _describe(self, stage: str, name: str) -> Any:
        return _DESCRIBED[name](self.materials, stage) if name in _DESCRIBED else None


_GIVEN: dict[str, Callable[[Materials, str], Any]] = {
    "language": lambda m, stage: m.language,
    "params": lambda m, stage: getattr(m.profile.capr, stage),
    "prompt": lambda m, stage: m.prompts[stage],
    "chat": lambda m, stage: m.chat(stage),
    "judges": lambda m, stage: m.judges(),
    "embedder": lambda m, stage: m.embedder,
    "seeds": lambda m, stage: m.seeds,
    "frozen_splits": lambda m, stage: m.splits,
    "run_seed": lambda m, stage: m.profile.run_seed,
    "base": lambda m, stage: m.frozen,
}

_DESCRIBED: dict[str, Callable[[Materials, str], Any]] = {
    "language": lambda m, stage: m.language.digest,
    "params": lambda m, stage: getattr(m.profile.capr, stage).model_dump(mode="json"),
    "prompt": lambda m, stage: m.prompts[stage].digest,
    # Seeds of calls come from the run seed, so it decides what a model answers.
    "chat": lambda m, stage: [m.chat(stage).identity, m.profile.run_seed],
    "judges": lambda m, stage: [[j.name, j.stance, j.chat.identity, m.profile.run_seed] for j in m.judges()],
    "embedder": lambda m, stage: m.embedder.identity,
    "seeds": lambda m, stage: digest_json(list(m.seeds)),
    "frozen_splits": lambda m, stage: digest_json(list(m.splits)),
    "run_seed": lambda m, stage: m.profile.run_seed,
    "base": lambda m, stage: m.frozen.digest if m.frozen else None,
}


def _version(package: str) -> str:
    """Its version; "none" for one that is not there, which the stage itself will say with what to type."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
