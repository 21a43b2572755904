"""Three distractors a proverb, of designed difficulty (ADAGE paper, section 3.1), searched in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline.embed.interface import Vectors
from pipeline.hashing import stable_hash

SAME_CLUSTER = "same_cluster"
SAME_CLUSTER_NEAREST = "same_cluster_nearest"
NEAR_MATCH = "near_match"
RANDOM_CLUSTER = "random_cluster"

Rule = Literal["paper", "balanced"]

_BLOCK = 512
_BALANCED_TRIES = 256

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    """The proverbs options are chosen from; all sequences have one entry a proverb, vectors are unit rows.

    ``groups`` are variant groups, ``nearest`` gives for each cluster number the nearest other cluster.
    """

    ids: Sequence[str]
    clusters: npt.NDArray[np.int64]
    labels: Sequence[str]
    groups: Sequence[str]
    texts: Vectors
    meanings: Vectors
    nearest: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Caps:
    """Similarities above which a proverb is no distractor; ``meaning`` None: meanings are not compared."""

    proverb: float
    meaning: float | None


@dataclass(frozen=True)
class Choice:
    """A proverb's distractors (rows of the pool) with their roles, or why there are none."""

    rows: tuple[int, ...]
    roles: tuple[str, ...]
    medoid_rank: int
    reason: str = ""
    numbers: Any = None


def choose(pool: Pool, wanted: Sequence[int], caps: Caps, rule: Rule, run_seed: int) -> list[Choice]:
    """Distractors for the proverbs in ``wanted`` (rows of the pool), in that order.

    Same-cluster: the most similar of the cluster; near-match: the most similar of all others; random: by a
    hash of both ids from another cluster. Never the proverb itself, a variant, one of the very same theme
    label, or one above a cap. A singleton cluster borrows from the nearest cluster and its role says so;
    where a role has no candidate the proverb is rejected, never given another role. Memory is a few
    blocks of 512 rows whatever the pool's size.
    """
    codes = _Codes(pool)
    chosen: list[Choice] = []
    for start in range(0, len(wanted), _BLOCK):
        block = np.asarray(wanted[start : start + _BLOCK], dtype=np.int64)
        similar = pool.texts[block] @ pool.texts.T
        barred = similar > caps.proverb
        if caps.meaning is not None:
            barred |= pool.meanings[block] @ pool.meanings.T > caps.meaning
        barred |= codes.labels[block][:, None] == codes.labels[None, :]
        barred |= codes.groups[block][:, None] == codes.groups[None, :]
        barred[np.arange(len(block)), block] = True
        for at, row in enumerate(block.tolist()):
            chosen.append(_choose_one(pool, codes, row, similar[at], ~barred[at], rule, run_seed))
    return chosen


def medoid_rank(vectors: Vectors) -> int:
    """How many options are closer to the others than option 0 is: 0 when it is the medoid, 3 the outlier."""
    likeness = vectors @ vectors.T
    sums = likeness.sum(axis=1) - np.diag(likeness)
    return int((sums[1:] > sums[0]).sum())


class _Codes:
    """Integer codes of labels and groups, and one hash an id, so that blocks compare by arithmetic."""

    def __init__(self, pool: Pool) -> None:
        self.labels = np.unique(np.asarray(pool.labels), return_inverse=True)[1]
        self.groups = np.unique(np.asarray(pool.groups), return_inverse=True)[1]
        self.hashes = np.array([stable_hash("option", i) for i in pool.ids], dtype=np.uint64)
        self.sizes = np.bincount(pool.clusters, minlength=len(pool.nearest))


def _choose_one(
    pool: Pool, codes: _Codes, row: int, similar: Vectors, allowed: Mask, rule: Rule, run_seed: int
) -> Choice:
    own = pool.clusters == pool.clusters[row]
    alone = codes.sizes[pool.clusters[row]] == 1
    home = pool.clusters == pool.nearest[pool.clusters[row]] if alone else own
    order = _mixed(codes.hashes, codes.hashes[row], run_seed)
    first = _most_similar(similar, allowed & home & (np.arange(len(home)) != row), order)
    numbers = {
        "cluster_size": int(codes.sizes[pool.clusters[row]]),
        "allowed": int(allowed.sum()),
        "allowed_in_cluster": int((allowed & home).sum()),
        "allowed_outside": int((allowed & ~own).sum()),
    }
    if first is None:
        return Choice((), (), -1, "no_same_cluster_candidate", numbers)
    outside = allowed & ~own & (codes.groups != codes.groups[first])
    second = _most_similar(similar, outside, order)
    if second is None:
        return Choice((), (), -1, "no_near_match_candidate", numbers)
    rest = np.flatnonzero(outside & (codes.groups != codes.groups[second]))
    if not len(rest):
        return Choice((), (), -1, "no_random_cluster_candidate", numbers)
    third, rank = _RULES[rule](
        pool, (row, first, second), rest[np.argsort(order[rest], kind="stable")], run_seed
    )
    role = SAME_CLUSTER_NEAREST if alone else SAME_CLUSTER
    return Choice((first, second, third), (role, NEAR_MATCH, RANDOM_CLUSTER), rank)


def _most_similar(similar: Vectors, allowed: Mask, order: npt.NDArray[np.uint64]) -> int | None:
    """The allowed row with the highest similarity, ties by hash."""
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return None
    best = rows[similar[rows] == similar[rows].max()]
    return int(best[order[best].argmin()])


def _first_random(pool: Pool, fixed: tuple[int, int, int], hashed: Any, run_seed: int) -> tuple[int, int]:
    """The paper's rule: the first in hash order."""
    third = int(hashed[0])
    return third, medoid_rank(pool.texts[[*fixed, third]])


def _balanced_random(pool: Pool, fixed: tuple[int, int, int], hashed: Any, run_seed: int) -> tuple[int, int]:
    """The first in hash order that gives the key the medoid rank it was dealt, else the nearest rank.

    Distractors are chosen around the key, so it tends to be the options' medoid: a shortcut. Dealing ranks
    0-3 by hash makes the rank say nothing about the key.
    """
    dealt = stable_hash(run_seed, "medoid", pool.ids[fixed[0]]) % 4
    tried = [
        (int(third), medoid_rank(pool.texts[[*fixed, int(third)]])) for third in hashed[:_BALANCED_TRIES]
    ]
    return min(tried, key=lambda pair: abs(pair[1] - dealt))


_RULES = {"paper": _first_random, "balanced": _balanced_random}


def _mixed(hashes: npt.NDArray[np.uint64], own: np.uint64, run_seed: int) -> npt.NDArray[np.uint64]:
    """A hash of each (own id, other id) pair under the run seed: splitmix64's finaliser (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        x = hashes ^ (own * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stable_hash(run_seed)))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
