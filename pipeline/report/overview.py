"""What was built, with which models, into which clusters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_SHORT = 12
_DIGEST = re.compile(r"\b[0-9a-f]{32,}\b")


@dataclass(frozen=True)
class Model:
    """One model of the run and what it was for."""

    role: str
    name: str
    server: str
    identity: str
    temperature: str
    made: int
    reused: int


@dataclass(frozen=True)
class ClusterRow:
    """One cluster: its name (None where the model gave none), how many proverbs and items, its labels."""

    number: int
    name: str | None
    proverbs: int
    items: int
    labels: list[str]


def models(manifest: Mapping[str, Any]) -> list[Model]:
    """Each role's model, and the embedder."""
    asked = [
        Model(
            role,
            facts["model"],
            _listed(facts["server"]),
            _short(facts["identity"]),
            f"{facts['options']['temperature']:g}",
            facts["calls"]["made"],
            facts["calls"]["reused"],
        )
        for role, facts in manifest["models"].items()
    ]
    embedder = manifest["embedder"]
    return [*asked, Model("embedder", embedder["name"], "", _short(embedder["identity"]), "", 0, 0)]


def clusters(tables: Mapping[str, pa.Table]) -> list[ClusterRow]:
    """The clusters, the largest first."""
    names = {row["cluster_id"]: row["name"] for row in tables["name_clusters"].to_pylist()}
    items = Counter(tables["curate"]["cluster_id"].to_pylist())
    labels: dict[int, Counter[str]] = {}
    for row in tables["cluster"].to_pylist():
        labels.setdefault(row["cluster_id"], Counter())[row["label"]] += 1
    rows = [
        ClusterRow(number, names.get(number), counts.total(), items[number], sorted(counts))
        for number, counts in labels.items()
    ]
    return sorted(rows, key=lambda row: (-row.proverbs, row.number))


def _short(identity: str) -> str:
    """An identity with the first letters of each digest in it: enough to tell two apart by eye."""
    return _DIGEST.sub(lambda found: found[0][:_SHORT], identity)


def _listed(servers: str | Sequence[str]) -> str:
    """One server, or each of several that serve the model."""
    return servers if isinstance(servers, str) else ", ".join(servers)
