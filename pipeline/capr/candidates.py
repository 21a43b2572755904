"""Three distractors a proverb, of designed difficulty (ADAGE paper, section 3.1), searched in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline.embed.interface import Vectors
from pipeline.hashing import stable_hash

SAME_CLUSTER = "same_cluster"
SAME_CLUSTER_NEAREST = "same_cluster_nearest"
NEAR_MATCH = "near_match"
RANDOM_CLUSTER = "random_cluster"

Rule = Literal["paper", "balanced"]

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

_BLOCK = 512
_TRIES = 256
_LAZY_ROUNDS = 16
# Cosines of float32 vectors differ in the seventh digit with the size of the block they are computed in.
_TIE = 1e-6


@dataclass(frozen=True)
class Pool:
    """The proverbs options are chosen from; all sequences have one entry a proverb, vectors are unit rows.

    ``groups`` are variant groups, ``nearest`` gives for each cluster number the nearest other cluster.
    """

    ids: Sequence[str]
    clusters: Numbers
    labels: Sequence[str]
    groups: Sequence[str]
    texts: Vectors
    meanings: Vectors
    nearest: Numbers


@dataclass(frozen=True)
class Caps:
    """Similarities above which a proverb is no distractor; ``meaning`` None: meanings are not compared."""

    proverb: float
    meaning: float | None


@dataclass(frozen=True)
class Choice:
    """A proverb's distractors (rows of the pool) with their roles, or why there are none.

    ``medoid_rank`` is that of the key among the four options, -1 without options. ``numbers`` of a
    rejection count what stood in the way among the candidates of the role that stayed empty.
    """

    rows: tuple[int, ...]
    roles: tuple[str, ...]
    medoid_rank: int
    reason: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


def choose(pool: Pool, wanted: Sequence[int], caps: Caps, rule: Rule, run_seed: int) -> list[Choice]:
    """Distractors for the proverbs in ``wanted`` (rows of the pool), in that order.

    Same-cluster: the most similar of the cluster; near-match: the most similar of all others; random: by a
    hash of both ids from another cluster. Never the proverb itself, a variant, one of the very same theme
    label, or one above a cap; ties by hash. A singleton cluster borrows from the nearest cluster and its
    role says so; where a role has no candidate the proverb is rejected, never given another role. Memory
    is a few blocks of 512 rows whatever the pool's size.
    """
    codes = _Codes(pool, run_seed)
    chosen: list[Choice] = []
    for start in range(0, len(wanted), _BLOCK):
        block = list(wanted[start : start + _BLOCK])
        similar = pool.texts[block] @ pool.texts.T
        chosen += [_Chooser(pool, codes, caps, row, similar[at]).choice(rule) for at, row in enumerate(block)]
    return chosen


def medoid_rank(vectors: Vectors) -> int:
    """How many options are closer to the others than option 0 is: 0 when it is the medoid, 3 the outlier."""
    return int(_medoid_ranks(vectors[:3], vectors[3:])[0])


class _Codes:
    """Integer codes of labels and groups, and one hash an id, so that rows are compared by arithmetic."""

    def __init__(self, pool: Pool, run_seed: int) -> None:
        self.run_seed = run_seed
        self.labels = np.unique(np.asarray(pool.labels), return_inverse=True)[1].astype(np.int32)
        self.groups = np.unique(np.asarray(pool.groups), return_inverse=True)[1].astype(np.int32)
        self.hashes: Hashes = np.array(
            [stable_hash(run_seed, "option", i) for i in pool.ids], dtype=np.uint64
        )
        self.members: list[Mask] = [pool.clusters == cluster for cluster in range(len(pool.nearest))]

    def order(self, key: int, rows: Numbers) -> Hashes:
        """A hash of each pair (key, row): both ids' hashes through splitmix64's finaliser."""
        with np.errstate(over="ignore"):
            x = self.hashes[rows] ^ (self.hashes[key] * np.uint64(0x9E3779B97F4A7C15))
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed: Hashes = x ^ (x >> np.uint64(31))
            return mixed


class _Chooser:
    """The search for one key. Meanings are compared for the few rows about to be taken, not for the pool."""

    def __init__(self, pool: Pool, codes: _Codes, caps: Caps, key: int, similar: Vectors) -> None:
        self.pool, self.codes, self.caps, self.key, self.similar = pool, codes, caps, key, similar
        self.allowed: Mask = similar <= caps.proverb
        self.allowed &= codes.labels != codes.labels[key]
        self.allowed &= codes.groups != codes.groups[key]
        self.allowed[key] = False

    def choice(self, rule: Rule) -> Choice:
        pool, groups = self.pool, self.codes.groups
        cluster = int(pool.clusters[self.key])
        own = self.codes.members[cluster]
        alone = int(own.sum()) == 1
        home = self.codes.members[int(pool.nearest[cluster])] if alone else own
        first = self._most_similar(home)
        if first is None:
            return self._rejected(SAME_CLUSTER, home)
        outside = ~own & (groups != groups[first])
        second = self._most_similar(outside)
        if second is None:
            return self._rejected(NEAR_MATCH, outside)
        outside &= groups != groups[second]
        hashed = self._first_by_hash(outside)
        if not len(hashed):
            return self._rejected(RANDOM_CLUSTER, outside)
        ranks = _medoid_ranks(pool.texts[[self.key, first, second]], pool.texts[hashed])
        taken = _RULES[rule](ranks, stable_hash(self.codes.run_seed, "medoid", pool.ids[self.key]) % 4)
        roles = (SAME_CLUSTER_NEAREST if alone else SAME_CLUSTER, NEAR_MATCH, RANDOM_CLUSTER)
        return Choice((first, second, int(hashed[taken])), roles, int(ranks[taken]))

    def _most_similar(self, scope: Mask) -> int | None:
        """The allowed row of the scope with the highest similarity."""
        left = np.where(self.allowed & scope, self.similar, np.float32(-np.inf))
        for tied in self._from_the_top(left):
            tied = tied[self._meaning_allows(tied)]
            if len(tied):
                return int(tied[self.codes.order(self.key, tied).argmin()])
        return None

    def _from_the_top(self, left: Vectors) -> Iterator[Numbers]:
        """Rows by falling similarity, equal ones together."""
        rounds = 0
        while (top := left.max()) > -np.inf:
            if rounds == _LAZY_ROUNDS:
                # Many close relatives share the meaning: compare all meanings at once instead.
                left[~self._meaning_allows(np.arange(len(left)))] = -np.inf
            else:
                tied = np.flatnonzero(left >= top - _TIE)
                yield tied
                left[tied] = -np.inf
            rounds += 1

    def _first_by_hash(self, scope: Mask) -> Numbers:
        """The first allowed rows of the scope in hash order, at most 256."""
        rows = np.flatnonzero(self.allowed & scope)
        order = self.codes.order(self.key, rows)
        if len(rows) > _TRIES:
            few = np.argpartition(order, _TRIES)[:_TRIES]
            found = rows[few[order[few].argsort()]]
            found = found[self._meaning_allows(found)]
            if len(found):
                return found
        found = rows[order.argsort()]
        return found[self._meaning_allows(found)][:_TRIES]

    def _meaning_allows(self, rows: Numbers) -> Mask:
        if self.caps.meaning is None:
            return np.ones(len(rows), dtype=bool)
        allows: Mask = self.pool.meanings[rows] @ self.pool.meanings[self.key] <= self.caps.meaning
        return allows

    def _rejected(self, role: str, scope: Mask) -> Choice:
        codes, key = self.codes, self.key
        rows = np.flatnonzero(scope)
        rows = rows[rows != key]
        numbers = {
            "cluster_size": int(codes.members[int(self.pool.clusters[key])].sum()),
            "candidates": len(rows),
            "same_label": int((codes.labels[rows] == codes.labels[key]).sum()),
            "variants": int((codes.groups[rows] == codes.groups[key]).sum()),
            "above_proverb_cap": int((self.similar[rows] > self.caps.proverb).sum()),
            "above_meaning_cap": int((~self._meaning_allows(rows)).sum()),
        }
        return Choice((), (), -1, f"no_{role}_candidate", numbers)


def _medoid_ranks(fixed: Vectors, candidates: Vectors) -> Numbers:
    """The key's medoid rank for each candidate fourth option; ``fixed`` is the key and two distractors."""
    to_fixed = candidates @ fixed.T
    within = fixed @ fixed.T
    sums = within.sum(axis=1) - within.diagonal() + to_fixed
    key = sums[:, 0]
    ranks: Numbers = (sums[:, 1:] > key[:, None]).sum(axis=1) + (to_fixed.sum(axis=1) > key)
    return ranks


def _first(ranks: Numbers, dealt: int) -> int:
    """The paper's rule: the first in hash order."""
    return 0


def _balanced(ranks: Numbers, dealt: int) -> int:
    """The first in hash order that gives the key the medoid rank it was dealt, else the nearest rank.

    Distractors are chosen around the key, so it tends to be the options' medoid: a shortcut. Dealing ranks
    0-3 by hash makes the medoid the key about as often as chance. The last rank is rarely to be had, since
    the other two distractors are near the key; the nearest rank then stands in.
    """
    return int(np.abs(ranks - dealt).argmin())


# Every rule is given the ranks and the dealt rank, and answers with the place of its candidate.
_RULES: dict[Rule, Callable[[Numbers, int], int]] = {"paper": _first, "balanced": _balanced}
