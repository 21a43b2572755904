"""Splits by proverb: 70/15/15 (ADAGE paper, table 2), stable when seeds grow or go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.capr.base import Base
from pipeline.errors import SeedError
from pipeline.hashing import stable_order

HELD_OUT = ("test", "validation")


def held_out(n_proverbs: int) -> int:
    """Proverbs in test, and in validation: floor(0.15 n) (ADAGE paper, table 2).

    822, 484, 69 give 123, 72, 10.
    """
    return n_proverbs * 15 // 100


def kept_splits(frozen_splits: Sequence[Mapping[str, str]], base: Base | None) -> dict[str, str]:
    """Proverb id -> the split it has already; SeedError when splits.csv and the base differ on one."""
    frozen = {row["proverb_id"]: row["split"] for row in frozen_splits}
    if base is None:
        return frozen
    moved = [i for i, split in sorted(base.splits.items()) if frozen.get(i, split) != split]
    if moved:
        first = moved[0]
        raise SeedError(
            f"seeds/{base.lang}/splits.csv has {len(moved)} proverbs in another split than base dataset "
            f"{base.version}: {first} is {frozen[first]} there and {base.splits[first]} in the base. What is "
            "published stays where it is: correct splits.csv, or build without the base"
        )
    return frozen | base.splits


def assign_splits(
    proverb_ids: Sequence[str],
    *,
    clusters: Mapping[str, int],
    groups: Mapping[str, str],
    frozen: Mapping[str, str],
    run_seed: int,
) -> dict[str, str]:
    """Proverb id -> train, validation or test.

    Frozen proverbs keep their split, and one with a frozen variant joins it. Test and then validation are
    filled up to floor(0.15 n) from the rest, spread over clusters: each next group comes from the cluster
    that lags furthest behind its share, groups within a cluster in hash order. A group of variants moves as
    one, and a group too large for the room that is left stays in train. Raises SeedError when ``frozen``
    has variants in different splits.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for proverb_id in proverb_ids:
        members[groups[proverb_id]].append(proverb_id)
    assigned = {group: split for group, ids in members.items() if (split := kept_split(group, ids, frozen))}
    target = held_out(len(proverb_ids))
    cluster_of = {group: clusters[min(ids)] for group, ids in members.items()}
    sizes = _cluster_sizes(cluster_of, members)
    for split in HELD_OUT:
        taken = dict.fromkeys(sizes, 0)
        for group, where in assigned.items():
            if where == split:
                taken[cluster_of[group]] += len(members[group])
        free = [group for group in members if group not in assigned]
        queues: dict[int, list[str]] = defaultdict(list)
        for group in stable_order(free, run_seed, "split", split):
            queues[cluster_of[group]].append(group)
        room = target - sum(taken.values())
        while room > 0 and any(queues.values()):
            # Behind its share by most: the smaller taken / size; the larger cluster first on a tie.
            cluster = min(
                (c for c, queue in queues.items() if queue),
                key=lambda c: ((taken[c] + 1) / sizes[c], -sizes[c], c),
            )
            group = queues[cluster].pop(0)
            if len(members[group]) <= room:
                assigned[group] = split
                taken[cluster] += len(members[group])
                room -= len(members[group])
    return {proverb_id: assigned.get(groups[proverb_id], "train") for proverb_id in proverb_ids}


def kept_split(group: str, ids: Sequence[str], frozen: Mapping[str, str]) -> str | None:
    """The split a group of variants has already, if any; SeedError when ``frozen`` has them in several."""
    known = {i: frozen[i] for i in sorted(ids) if i in frozen}
    if len(set(known.values())) > 1:
        where = ", ".join(f"{proverb_id} in {split}" for proverb_id, split in known.items())
        raise SeedError(
            f"variants of one proverb stand in different splits: {where}. They would leak between splits: "
            "give them one split in splits.csv, or take variant_of away in proverbs.csv if they are no "
            "variants (a base dataset's splits cannot change)"
        )
    # A group is named after a proverb, which may be gone: its variants still belong where it was.
    return next(iter(known.values()), frozen.get(group))


def _cluster_sizes(cluster_of: Mapping[str, int], members: Mapping[str, Sequence[str]]) -> dict[int, int]:
    sizes: dict[int, int] = defaultdict(int)
    for group, ids in members.items():
        sizes[cluster_of[group]] += len(ids)
    return dict(sizes)
