"""Stage artifacts: found by key, trusted by digest, written with the manifest last."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.errors import StageError
from pipeline.store.catalog import REJECTED, SCHEMAS
from pipeline.store.files import digest_file, digest_json, write_json
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table, read_table, rejected_table, write_table

_KEY_LENGTH = 16
_MANIFEST = "manifest.json"
_FILES = ("kept.parquet", "rejected.parquet")

KeyParts = Mapping[str, Any]
"""Everything that decides a stage's output, by component: parameters, inputs, prompts, models, code, ..."""


@dataclass(frozen=True)
class StageRef:
    """One finished stage: where its tables lie and what came of its rows."""

    stage: str
    key: str
    folder: Path
    digest: str
    expected: int
    kept: int
    rejected: int
    reasons: Mapping[str, int]
    facts: Mapping[str, Any]
    cached: bool
    seconds: float
    calls: Mapping[str, int]

    def table(self) -> pa.Table:
        """The kept rows."""
        return read_table(self.folder / "kept.parquet")

    def rejected_table(self) -> pa.Table:
        """The rejected rows with their reasons."""
        return read_table(self.folder / "rejected.parquet")


@dataclass(frozen=True)
class Artifact:
    """A finished stage with the parts of its key; ``lasting`` is false when a server lost it a row."""

    ref: StageRef
    parts: KeyParts
    lasting: bool


def stage_key(parts: KeyParts) -> str:
    """The key of a stage: a digest of all its parts."""
    return digest_json(parts)[:_KEY_LENGTH]


def schema_digest(stage: str) -> str:
    """Digest of the stage's table schema and of the rejected rows' schema."""
    return digest_json([str(SCHEMAS[stage]), str(REJECTED)])


def find(folder: Path, stage: str, parts: KeyParts) -> StageRef | None:
    """The artifact under this key when it is whole, else None.

    Torn or altered files count as absent, and so does one that lost rows to a server that was away.
    """
    key = stage_key(parts)
    manifest = _whole(folder / stage / key, key)
    return _ref(folder / stage / key, manifest, cached=True) if manifest and manifest["lasting"] else None


def load(folder: Path, stage: str, key: str) -> StageRef:
    """The artifact a finished run names; StageError when it is gone or altered."""
    manifest = _whole(folder / stage / key, key)
    if manifest is None:
        raise StageError(
            f"stage {stage}: {folder / stage / key} is gone or altered since the run: build again"
        )
    return _ref(folder / stage / key, manifest, cached=True)


def open_artifact(place: Path) -> Artifact | None:
    """The artifact in a folder, None where its files are not those its manifest names."""
    manifest = _whole(place, place.name)
    if manifest is None:
        return None
    return Artifact(_ref(place, manifest, cached=True), manifest["parts"], manifest["lasting"])


def artifacts(folder: Path, stage: str) -> list[Artifact]:
    """Every whole artifact of a stage, the newest first."""
    places = [manifest.parent for manifest in (folder / stage).glob(f"*/{_MANIFEST}")]
    newest = sorted(places, key=lambda place: (place / _MANIFEST).stat().st_mtime_ns, reverse=True)
    return [artifact for place in newest if (artifact := open_artifact(place))]


def why_absent(folder: Path, stage: str, parts: KeyParts) -> str:
    """Why ``find`` gives nothing under this key."""
    place = folder / stage / stage_key(parts)
    if not (place / _MANIFEST).exists():
        return "not built under this key"
    if open_artifact(place) is None:
        return "its files are damaged"
    return "it lost rows to a server that was away"


def _whole(place: Path, key: str) -> dict[str, Any] | None:
    """The manifest of an artifact whose files are those it was written with."""
    try:
        manifest: dict[str, Any] = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))
        whole = all(digest_file(place / name) == manifest["files"][name] for name in _FILES)
        return manifest if whole and manifest["key"] == key and "lasting" in manifest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def build(folder: Path, stage: str, parts: KeyParts, run: Callable[[], StageResult]) -> StageRef:
    """Run a stage and write its artifact.

    Raises StageError when the stage lost or invented a row: expected must be kept plus rejected.
    """
    start = time.monotonic()
    result = run()
    kept = kept_table(stage, result.rows)
    rejected = rejected_table(stage, result.rejected)
    if kept.num_rows + rejected.num_rows != result.expected:
        raise StageError(
            f"stage {stage}: {result.expected} rows expected, {kept.num_rows} kept and "
            f"{rejected.num_rows} rejected: this is a mistake in the stage, nothing was written"
        )
    reasons: dict[str, int] = {}
    for rejection in result.rejected:
        reasons[rejection.reason] = reasons.get(rejection.reason, 0) + 1
    place = folder / stage / stage_key(parts)
    # The old manifest goes first: a kill between the two tables must not leave it vouching for new files.
    (place / _MANIFEST).unlink(missing_ok=True)
    write_table(place / "kept.parquet", kept)
    write_table(place / "rejected.parquet", rejected)
    manifest = {
        "stage": stage,
        "key": stage_key(parts),
        "parts": parts,
        "files": {name: digest_file(place / name) for name in _FILES},
        "expected": result.expected,
        "kept": kept.num_rows,
        "rejected": rejected.num_rows,
        "reasons": dict(sorted(reasons.items())),
        "facts": dict(result.facts),
        "lasting": result.lasting,
        "seconds": round(time.monotonic() - start, 3),
    }
    write_json(place / _MANIFEST, manifest)
    return _ref(place, manifest, cached=False)


def find_or_build(
    folder: Path,
    stage: str,
    parts: KeyParts,
    run: Callable[[], StageResult],
    calls: Callable[[], Mapping[str, int]],
) -> StageRef:
    """The artifact under this key, built now when there is none; ``calls`` counts model calls so far."""
    found = find(folder, stage, parts)
    if found:
        return found
    before = dict(calls())
    ref = build(folder, stage, parts, run)
    return replace(ref, calls={name: count - before.get(name, 0) for name, count in calls().items()})


def _ref(place: Path, manifest: Mapping[str, Any], *, cached: bool) -> StageRef:
    return StageRef(
        stage=manifest["stage"],
        key=manifest["key"],
        folder=place,
        digest=manifest["files"]["kept.parquet"],
        expected=manifest["expected"],
        kept=manifest["kept"],
        rejected=manifest["rejected"],
        reasons=manifest["reasons"],
        facts=manifest["facts"],
        cached=cached,
        seconds=0.0 if cached else manifest["seconds"],
        calls={},
    )
