"""One item's whole life: every stage's row, the numbers that decided, and every raw reply behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import pyarrow.compute as pc

from pipeline.capr.rubrics import RUBRICS
from pipeline.capr.views import View
from pipeline.errors import ConfigError
from pipeline.llm.ledger_tools import StoredReply
from pipeline.llm.replies import parse, separate_thinking
from pipeline.store.stages import Artifact

Row = Mapping[str, Any]
Kind = Literal["proverb", "scenario", "item"]

_KINDS: dict[int, Kind] = {1: "proverb", 2: "scenario", 3: "item"}
_NEAR = 5
_OF_PROVERB = ("acquire", "label", "cluster", "name_clusters")
_OF_SCENARIO = ("scenarios", "filter", "distractors", "judge", "curate")


@dataclass(frozen=True)
class RawReply:
    """A reply as the ledger holds it; ``used``: the stage's row is made from it."""

    stored: StoredReply
    used: bool


@dataclass(frozen=True)
class Step:
    """What one stage made of it: rows kept, rows rejected (reason, numbers, raw), and the replies.

    ``params`` are the stage's settings and ``facts`` what it found for all rows: k and similarity caps.
    """

    stage: str
    kept: Sequence[Row]
    rejected: Sequence[Row]
    params: Row
    facts: Row
    replies: Sequence[RawReply] = ()


@dataclass(frozen=True)
class Fate:
    """What became of one scenario of a proverb: an item with its split, or where and why it ended."""

    scenario_id: str
    item_id: str | None
    stage: str
    outcome: str


@dataclass(frozen=True)
class Life:
    """Everything about one id; ``fates`` are filled for a proverb, steps past its cluster for the others.

    ``split`` is the proverb's, None in a build that did not get so far.
    """

    id: str
    kind: Kind
    source: str
    split: str | None
    steps: list[Step]
    fates: list[Fate]


Replies = Callable[[Sequence[str]], Sequence[StoredReply]]
"""Row ids of asks -> what the ledger holds for them, oldest first."""


def life(identifier: str, views: Iterable[View], replies: Replies, where: str) -> Life:
    """The life of an item, scenario or proverb in the first of ``views`` that knows its id.

    Raises ConfigError saying what ids look like, with near ones, when none does; ``where`` names the place.
    """
    known: list[str] = []
    for view in views:
        if _knows(view, identifier):
            return _life(identifier, view, replies)
        known = known or _ids(view)
    raise ConfigError(_unknown(identifier, known, where))


def _life(identifier: str, view: View, replies: Replies) -> Life:
    kind = _kind(identifier)
    proverb_id, *slot = identifier.split(".")
    steps = [_step(view, stage, proverb_id, "", replies) for stage in _OF_PROVERB if stage in view.stages]
    curated = view.stages.get("curate")
    split = curated.ref.facts["splits"].get(proverb_id) if curated else None
    if kind == "proverb":
        return Life(identifier, kind, view.source, split, steps, _fates(view, proverb_id))
    scenario_id = f"{proverb_id}.{slot[0]}"
    item_id = identifier if kind == "item" else ""
    steps += [
        _step(view, stage, scenario_id, item_id, replies) for stage in _OF_SCENARIO if stage in view.stages
    ]
    return Life(identifier, kind, view.source, split, steps, [])


def _step(view: View, stage: str, owner: str, item_id: str, replies: Replies) -> Step:
    """``owner`` is the proverb or scenario the stage's rows are about."""
    artifact = view.stages[stage]
    cluster = _cluster_of(view, owner) if stage == "name_clusters" else None
    kept = _rows(artifact, _COLUMNS[stage], owner if stage != "name_clusters" else cluster)
    if item_id and "item_id" in (kept[0] if kept else {}):
        kept = [row for row in kept if row["item_id"] == item_id]
    if stage == "judge":
        kept = [row for row in artifact.ref.table().to_pylist() if _of(row["item_id"], owner, item_id)]
    about = f"cluster-{cluster}" if stage == "name_clusters" else owner
    rejected = [
        {**row, "numbers": json.loads(row["numbers"])}
        for row in artifact.ref.rejected_table().to_pylist()
        if row["row_id"] == about or (stage == "curate" and _of(row["row_id"], owner, item_id))
    ]
    params = artifact.parts["given"].get("params", {})
    facts = {name: fact for name, fact in artifact.ref.facts.items() if name in _FACTS}
    found = _replies(artifact, item_id if stage == "judge" else about, kept, replies)
    return Step(stage, kept, rejected, params, facts, found)


_FACTS = ("k", "k_searched", "similarity_cap", "caps", "rule")

_COLUMNS = {
    "acquire": "proverb_id",
    "label": "proverb_id",
    "cluster": "proverb_id",
    "name_clusters": "cluster_id",
    "scenarios": "scenario_id",
    "filter": "scenario_id",
    "distractors": "scenario_id",
    "judge": "item_id",
    "curate": "scenario_id",
}


def _cluster_of(view: View, proverb_id: str) -> int | None:
    if "cluster" not in view.stages:
        return None
    rows = _rows(view.stages["cluster"], "proverb_id", proverb_id)
    return rows[0]["cluster_id"] if rows else None


def _of(row_id: str, scenario_id: str, item_id: str) -> bool:
    return row_id == item_id if item_id else row_id.startswith(f"{scenario_id}.")


def _rows(artifact: Artifact, column: str, value: Any) -> list[Row]:
    table = artifact.ref.table()
    found: list[Row] = table.filter(pc.equal(table[column], value)).to_pylist()
    return found


def _replies(artifact: Artifact, about: str, kept: Sequence[Row], replies: Replies) -> list[RawReply]:
    """The stage's model's replies for this row, those to another build's prompts among them."""
    stage, given = artifact.ref.stage, artifact.parts["given"]
    if stage == "judge":
        asked = {f"{row['item_id']}@{row['judge']}": row for row in kept}
        # An item of the base dataset was judged by another build.
        asked = asked or {f"{about}@{name}": {} for name, *_ in given["judges"]}
        models = {identity.partition(" {")[0] for _, _, identity, _ in given["judges"]}
    elif stage in _MADE_FROM:
        asked = {about: kept[0] if kept else {}}
        models = {given["chat"][0].partition(" {")[0]}
    else:
        return []
    found = [reply for reply in replies(list(asked)) if reply.model in models]
    marked = [RawReply(reply, _made(stage, reply, asked[reply.row_id])) for reply in found]
    # Clusters are numbered alike in every language and build, so only the reply that was used is this one's.
    return [reply for reply in marked if reply.used] if stage == "name_clusters" else marked


_MADE_FROM: dict[str, Callable[[Row], Row]] = {
    "label": lambda row: {"theme": row["label_raw"]},
    "name_clusters": lambda row: {"name": row["name"]},
    "scenarios": lambda row: {"scenario": row["text"]},
    "judge": lambda row: {name: row[name] for name in (*RUBRICS, "fits")},
}
"""What of a reply a stage's row holds."""


def _made(stage: str, reply: StoredReply, row: Row) -> bool:
    try:
        value = parse(separate_thinking(reply.content)[1])
    except ValueError:
        return False
    if not row or not isinstance(value, dict):
        return False
    wanted = _MADE_FROM[stage](row)
    return all(_flat(value.get(name)) == _flat(inner) for name, inner in wanted.items())


def _flat(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _fates(view: View, proverb_id: str) -> list[Fate]:
    """Each scenario's end, in the order it was asked for."""
    fates: dict[str, Fate] = {}
    for stage in _OF_SCENARIO:
        if stage not in view.stages or stage == "judge":
            continue
        artifact = view.stages[stage]
        for row in artifact.ref.rejected_table().to_pylist():
            if row["row_id"].split(".")[0] == proverb_id and "." in row["row_id"]:
                scenario_id = ".".join(row["row_id"].split(".")[:2])
                item_id = row["row_id"] if stage == "curate" else None
                fates[scenario_id] = Fate(
                    scenario_id, item_id, stage, f"{stage} rejected it: {row['reason']}"
                )
        for row in _rows(artifact, "proverb_id", proverb_id):
            item_id = row.get("item_id")
            outcome = f"item in {row['split']}" if stage == "curate" else f"got as far as {stage}"
            fates[row["scenario_id"]] = Fate(row["scenario_id"], item_id, stage, outcome)
    return list(fates.values())


def _kind(identifier: str) -> Kind:
    return _KINDS.get(identifier.count(".") + 1, "item")


def _knows(view: View, identifier: str) -> bool:
    return identifier in _ids(view)


def _ids(view: View) -> list[str]:
    """Every id of a view: proverbs, scenarios, items, kept or rejected."""
    found: dict[str, None] = {}
    for stage, column in (("acquire", "proverb_id"), *((s, "scenario_id") for s in _OF_SCENARIO)):
        if stage not in view.stages:
            continue
        table = view.stages[stage].ref.table()
        for name in ("proverb_id", column, "item_id"):
            if name in table.column_names:
                found.update(dict.fromkeys(table[name].to_pylist()))
        found.update(dict.fromkeys(view.stages[stage].ref.rejected_table()["row_id"].to_pylist()))
    return list(found)


def _unknown(identifier: str, known: Sequence[str], where: str) -> str:
    starts = [i for i in known if i.startswith(identifier)]
    near = list(dict.fromkeys([*starts, *get_close_matches(identifier, known, _NEAR, 0.6)]))[:_NEAR]
    samples = {kind: next((i for i in known if _kind(i) == kind), None) for kind in _KINDS.values()}
    shapes = ", ".join(f"{kind} {sample}" for kind, sample in samples.items() if sample)
    said = f"no item, scenario or proverb {identifier!r} in {where}."
    if not known:
        return f"{said} Nothing was built there yet: type adage build capr --lang {where.split('/')[-1]}"
    return f"{said} Ids look like these: {shapes}." + (f" Near it: {', '.join(near)}" if near else "")
