"""Base datasets on disk: a run writes one beside its manifest, a later build reads it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.capr.base import Base, FrozenCaps, FrozenProverb
from pipeline.errors import ConfigError
from pipeline.store.catalog import SCHEMAS
from pipeline.store.files import digest_file, write_atomically, write_json
from pipeline.store.tables import read_table, write_table

RECORD = "base.json"
SPLITS = ("train", "validation", "test")
_DIGEST = 16
_VERSION = re.compile(r"\d+\.\d+", re.ASCII)


def write_dataset(folder: Path, items: pa.Table, notices: Sequence[str], record: Mapping[str, Any]) -> None:
    """Write ``dataset/<split>.parquet``, then `base.json`, which names their digests, last.

    The theme labels stand in `base.json` only: they never reach the dataset.
    """
    # A file travels without its folder, so it must say itself what it is.
    said = {"notices": "\n".join(notices)}
    files = {}
    (folder / RECORD).unlink(missing_ok=True)
    for split in SPLITS:
        part = items.filter(pc.equal(items["split"], split)).replace_schema_metadata(said)
        path = folder / "dataset" / f"{split}.parquet"
        write_table(path, part)
        files[split] = digest_file(path)
    write_json(folder / RECORD, {**record, "files": files})


def record_of(
    tables: Mapping[str, pa.Table], facts: Mapping[str, Mapping[str, Any]], base: Base | None
) -> dict[str, Any]:
    """What a run freezes besides its items, from the tables and facts of its stages and from its base.

    The splits of the base's proverbs are carried on, those of proverbs that are gone too: one that comes
    back must not change its split.
    """
    splits = {**(base.splits if base else {}), **facts["curate"]["splits"]}
    clustered = {row["proverb_id"]: row for row in tables["cluster"].to_pylist()}
    proverbs = {}
    for proverb_id, split in sorted(splits.items()):
        row = clustered.get(proverb_id, {})
        proverbs[proverb_id] = {
            "split": split,
            **{name: row.get(name) for name in ("label", "label_key", "cluster_id")},
        }
    caps = facts["distractors"]["caps"]
    return {
        "caps": {
            "proverb": caps["proverb_cap"]["cap"],
            "meaning": caps["meaning_cap"]["cap"] if caps["meaning_cap"] else None,
            "scenario": facts["filter"]["similarity_cap"]["cap"],
        },
        "clusters": {str(row["cluster_id"]): row["name"] for row in tables["name_clusters"].to_pylist()},
        "proverbs": proverbs,
    }


def next_version(base: Base | None, *, recluster: bool, grown: bool) -> str:
    """1.0 without a base; a new minor version where items came or went; a new major one for new clusters."""
    if base is None:
        return "1.0"
    major, minor = (int(part) for part in base.version.split("."))
    if recluster:
        return f"{major + 1}.0"
    return f"{major}.{minor + 1}" if grown else base.version


def load_base(folder: Path, lang: str, copies: Path) -> Base:
    """Read the run or release in ``folder`` as a base, and keep a copy of it below ``copies``.

    The copy matters because a run may replace the very dataset it grows: its base stays to be had.
    Raises ConfigError when the folder holds no whole base dataset of ``lang``.
    """
    place = folder / RECORD
    if not place.is_file():
        raise ConfigError(
            f"{folder}: not a base dataset, it has no {RECORD}. Give the folder of a finished run "
            f"(artifacts/capr/{lang}/runs/PROFILE) or a copy of one"
        )
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        _check_record(record)
        tables = [_split_table(folder, split, record["files"][split]) for split in SPLITS]
        base = Base(
            version=record["version"],
            digest=digest_file(place),
            lang=record["lang"],
            embedder=record["embedder"],
            caps=FrozenCaps(**record["caps"]),
            proverbs={i: FrozenProverb(**fields) for i, fields in record["proverbs"].items()},
            cluster_names={int(number): name for number, name in record["clusters"].items()},
            items=pa.concat_tables(tables),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ConfigError(
            f"{folder}: not a whole base dataset: {error}. Bases that builds have used are kept in {copies}"
        ) from error
    if base.lang != lang:
        raise ConfigError(f"{folder}: a base dataset of {base.lang!r}, but --lang is {lang!r}")
    _keep(folder, copies / base.digest[:_DIGEST])
    return base


def _check_record(record: Mapping[str, Any]) -> None:
    version, proverbs = record["version"], record["proverbs"]
    if not _VERSION.fullmatch(version):
        raise ValueError(f"version in {RECORD} is {version!r}, must be two numbers such as 1.0")
    for proverb_id, frozen in proverbs.items():
        if frozen["split"] not in SPLITS:
            allowed = ", ".join(SPLITS)
            raise ValueError(f"{proverb_id} in {RECORD} has split {frozen['split']!r}; allowed: {allowed}")


def _split_table(folder: Path, split: str, digest: str) -> pa.Table:
    path = folder / "dataset" / f"{split}.parquet"
    if digest_file(path) != digest:
        raise ValueError(f"{path} is not the file that {RECORD} names")
    table = read_table(path).replace_schema_metadata(None)
    if table.schema != SCHEMAS["curate"]:
        raise ValueError(f"{path} has other columns than this version of adage writes")
    return table


def _keep(folder: Path, copy: Path) -> None:
    if (copy / RECORD).is_file():
        return
    # The record last: a copy without it is none, and is made again.
    for name in (*(f"dataset/{split}.parquet" for split in SPLITS), RECORD):
        write_atomically(copy / name, partial(_copy, folder / name))


def _copy(source: Path, stream: BinaryIO) -> None:
    with source.open("rb") as original:
        shutil.copyfileobj(original, stream)
