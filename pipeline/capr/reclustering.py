"""What clustering a base dataset anew would change, known before the costly calls are made."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pipeline.capr.base import Base
from pipeline.capr.distractors import DistractorParams, choose_options
from pipeline.embed.interface import Embedder


@dataclass(frozen=True)
class Change:
    """The base's items under new clusters: they keep their options, get others, or go."""

    kept: int
    changed: int
    gone: int

    @property
    def items(self) -> int:
        """Items of the base."""
        return self.kept + self.changed + self.gone

    def said(self, k: int, *, judges: int) -> str:
        """The change in words, with the calls it takes: ``k`` new clusters, a jury of ``judges``."""
        return (
            f"clustered anew (k = {k}): of {self.items} items {self.kept} keep their options, {self.changed} "
            f"get others, {self.gone} go. At least {judges * self.changed} judge calls, and {k} for cluster "
            "names, besides those for new proverbs"
        )


def what_changes(
    base: Base,
    proverbs: pa.Table,
    clusters: pa.Table,
    embedder: Embedder,
    run_seed: int,
    params: DistractorParams,
) -> Change:
    """Compare the base's options with those the new ``clusters`` give its proverbs.

    An item goes when its proverb has no cluster or no distractors any more. Scenarios are taken to stay.
    """
    items = base.items.to_pylist()
    clustered = set(clusters["proverb_id"].to_pylist())
    owners = sorted({item["proverb_id"] for item in items} & clustered)
    options = choose_options(owners, proverbs, clusters, embedder, run_seed, params, None)
    counts = {"kept": 0, "changed": 0, "gone": 0}
    for item in items:
        ids = options.ids_of(item["proverb_id"]) if item["proverb_id"] in clustered else set()
        fate = "gone" if not ids else "kept" if ids == set(item["option_ids"]) else "changed"
        counts[fate] += 1
    return Change(**counts)
