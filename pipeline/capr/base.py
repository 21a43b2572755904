"""A base dataset: what a finished run froze for the builds that grow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class FrozenProverb:
    """A proverb's place in a base dataset.

    Without a cluster (``cluster_id`` None) it has its split and nothing else: it got no label, was past the
    limit, or was taken out of the seeds.
    """

    split: str
    label: str | None
    label_key: str | None
    cluster_id: int | None


@dataclass(frozen=True)
class FrozenCaps:
    """The similarity caps of a base dataset; ``meaning`` is None where meanings were not compared."""

    proverb: float
    meaning: float | None
    scenario: float


@dataclass(frozen=True)
class Base:
    """A base dataset, whole: its clusters, names, caps and splits are frozen, its items stay to the letter.

    ``items`` has the columns of `curate`; ``embedder`` is the identity of the one its caps belong to;
    ``digest`` is that of its record, which names every file's digest.
    """

    version: str
    digest: str
    lang: str
    embedder: str
    caps: FrozenCaps
    proverbs: Mapping[str, FrozenProverb]
    cluster_names: Mapping[int, str]
    items: pa.Table

    @property
    def splits(self) -> dict[str, str]:
        """Proverb id -> split."""
        return {proverb_id: frozen.split for proverb_id, frozen in self.proverbs.items()}

    @property
    def settled(self) -> frozenset[str]:
        """Proverbs that have a cluster: no model is asked about them again. The others are as if new."""
        return frozenset(i for i, frozen in self.proverbs.items() if frozen.cluster_id is not None)

    @property
    def clustered(self) -> list[dict[str, Any]]:
        """Rows of the `cluster` table, by id, for the proverbs that have a cluster."""
        return [
            {"proverb_id": i, "label": p.label, "label_key": p.label_key, "cluster_id": p.cluster_id}
            for i, p in sorted(self.proverbs.items())
            if p.cluster_id is not None
        ]
