"""Splits that contradict one another, found before any model is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.capr.base import Base
from pipeline.capr.splitting import kept_split, kept_splits
from pipeline.seeds.groups import group_of


def check_splits(
    seeds: Sequence[Mapping[str, str]], frozen_splits: Sequence[Mapping[str, str]], base: Base | None
) -> None:
    """Raise SeedError where `curate` could place some proverb of ``seeds`` nowhere, whatever is built.

    Either splits.csv and the base dataset have it in different splits, or its variants are in different ones.
    """
    kept = kept_splits(frozen_splits, base)
    variant_of = {row["proverb_id"]: row["variant_of"] for row in seeds}
    members: dict[str, list[str]] = defaultdict(list)
    for proverb_id in variant_of:
        members[group_of(proverb_id, variant_of)].append(proverb_id)
    for group, ids in members.items():
        kept_split(group, ids, kept)
