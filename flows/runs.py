"""What a run leaves beside its stages: manifest, dataset tables, rejected rows, report."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.capr.base import Base
from pipeline.capr.base_files import SPLITS, next_version, record_of, write_dataset
from pipeline.capr.shortcuts import as_records, failures, said_of, shortcut_gates
from pipeline.errors import ConfigError, GateError
from pipeline.report.page import page
from pipeline.store.files import write_json, write_text
from pipeline.store.stages import StageRef, load
from pipeline.store.tables import read_table, write_table

FORMAT = 1
"""Of manifest.json; another number wherever its fields change, so that no reader meets fields it lacks."""


@dataclass(frozen=True)
class Summary:
    """One finished run, as `adage show` prints it."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def report(self) -> Path:
        """The run as a page for people."""
        return self.folder / "report.html"

    @property
    def as_json(self) -> dict[str, Any]:
        """The public form: profile, stages, items, splits, flagged, calls."""
        fields = ("name", "key", "rows_expected", "rows_kept", "rows_rejected", "cached", "seconds")
        stages = [{name: stage[name] for name in fields} for stage in self.manifest["stages"]]
        rest = {name: self.manifest[name] for name in ("items", "splits", "flagged", "calls")}
        return {"profile": self.manifest["profile"], "stages": stages, **rest}


def finish_run(
    folder: Path,
    *,
    lang: str,
    profile: str,
    stages: Mapping[str, StageRef],
    calls: Mapping[str, int],
    details: Mapping[str, Any],
    base: Base | None = None,
    recluster: bool = False,
) -> Summary:
    """Write the dataset, which a later build may grow, and the rejected rows, then the manifest last."""
    items = stages["curate"].table()
    grown = base is not None and set(items["item_id"].to_pylist()) != set(base.items["item_id"].to_pylist())
    version_ = next_version(base, recluster=recluster, grown=grown)
    frozen = record_of(
        {name: stages[name].table() for name in ("cluster", "name_clusters")},
        {name: stages[name].facts for name in ("filter", "distractors", "curate")},
        base,
    )
    about = {"version": version_, "lang": lang, "embedder": details["embedder"]["identity"]}
    write_dataset(folder, items, details["notices"], {**about, **frozen})
    rejected = pa.concat_tables([ref.rejected_table() for ref in stages.values()])
    write_table(folder / "rejected.parquet", rejected)
    manifest = {
        "format": FORMAT,
        "family": "capr",
        "lang": lang,
        "profile": profile,
        "version": version_,
        "base": base and {"version": base.version, "digest": base.digest, "reclustered": recluster},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "adage": version("adage"),
        "python": platform.python_version(),
        **details,
        "stages": [_stage(ref) for ref in stages.values()],
        "items": items.num_rows,
        "splits": {split: pc.sum(pc.equal(items["split"], split)).as_py() or 0 for split in SPLITS},
        "flagged": pc.sum(items["flag_paper"]).as_py() or 0,
        "shortcuts": as_records(shortcut_gates(items.to_pylist(), details["run_seed"])),
        "calls": {"made": calls["made"], "reused": calls["reused"]},
    }
    write_json(folder / "manifest.json", manifest)
    summary = Summary(folder, manifest)
    # After the manifest: the run is finished, whatever its report meets.
    write_report(summary, stages)
    return summary


def refuse_failures(summary: Summary) -> None:
    """Raise GateError when a shortcut's gate failed; one that is undecided refuses nothing."""
    failed = failures(summary.manifest["shortcuts"])
    if failed:
        said = "; ".join(f"{gate['baseline']} {said_of(gate)}" for gate in failed)
        raise GateError(
            f"{summary.folder}: without its scenario too many items can be answered: {said}; at most "
            f"{failed[0]['limit']:.0%} is allowed. The dataset is written, and {summary.report} shows them. "
            "To take it as it is, build without --strict; against medoid_option, set capr.distractors.rule "
            "to balanced in the profile"
        )


def write_report(summary: Summary, stages: Mapping[str, StageRef]) -> Path:
    """Write the run's page beside its manifest."""
    write_text(summary.report, page(summary.manifest, {name: ref.table() for name, ref in stages.items()}))
    return summary.report


def stages_of(summary: Summary, folder: Path) -> dict[str, StageRef]:
    """The stages a finished run was made of; StageError when one of them is gone from ``folder``."""
    return {stage["name"]: load(folder, stage["name"], stage["key"]) for stage in summary.manifest["stages"]}


def load_run(runs: Path, profile: str | None) -> Summary:
    """The last finished run below ``runs``, or that of one profile; ConfigError when there is none."""
    found = find_run(runs, profile)
    if found is None:
        which = f"of profile {profile} " if profile else ""
        raise ConfigError(
            f"no finished run {which}in {runs}: type adage build capr --lang {runs.parent.name}"
        )
    return found


def find_run(runs: Path, profile: str | None) -> Summary | None:
    """The last finished run below ``runs``, or that of one profile, or None.

    Raises ConfigError when a manifest cannot be read or the run found is another version's.
    """
    found = [_read_run(file) for file in runs.glob("*/manifest.json") if profile in (None, file.parent.name)]
    if not found:
        return None
    run = max(found, key=lambda one: str(one.manifest.get("finished")))
    if run.manifest.get("format") != FORMAT:
        raise ConfigError(
            f"{run.folder}: this run was finished by another version of adage, whose manifest this one does "
            f"not read; type adage build capr --lang {runs.parent.name} --profile {run.folder.name}: all "
            "replies and every stage that has not changed are used again"
        )
    return run


def _read_run(file: Path) -> Summary:
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(manifest, dict):
            raise ValueError("not an object")
    except ValueError as error:
        raise ConfigError(
            f"{file}: damaged: {error}; delete it, then run the build again: finished stages and replies are "
            "used again"
        ) from error
    return Summary(file.parent, manifest)


def read_rejected(summary: Summary) -> pa.Table:
    """All rejected rows of a run."""
    return read_table(summary.folder / "rejected.parquet")


def made_from(stage: Mapping[str, Any]) -> str:
    """Where a stage's rows come from, in a word or two, for tables."""
    calls = stage["calls"]
    if stage["cached"]:
        return "cache"
    return f"{calls.get('made', 0)} calls" if any(calls.values()) else "new"


def _stage(ref: StageRef) -> dict[str, Any]:
    return {
        "name": ref.stage,
        "key": ref.key,
        "rows_expected": ref.expected,
        "rows_kept": ref.kept,
        "rows_rejected": ref.rejected,
        "reasons": dict(ref.reasons),
        "cached": ref.cached,
        "seconds": ref.seconds,
        "calls": dict(ref.calls),
        "facts": dict(ref.facts),
    }
