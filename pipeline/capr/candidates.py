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
Levels = npt.NDArray[np.int8]
Hashes = npt.NDArray[np.uint64]

_BLOCK = 512
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
        keys = [_Key(pool, codes, caps, row, similar[at]) for at, row in enumerate(block)]
        for key in keys:
            key.find_relatives()
        levels = _RULES[rule](pool.texts, similar, keys)
        chosen += [key.choice(of_key) for key, of_key in zip(keys, levels, strict=True)]
    return chosen


def medoid_rank(vectors: Vectors) -> int:
    """How many options are closer to the others than option 0 is: 0 when it is the medoid, 3 the outlier."""
    likeness = vectors @ vectors.T
    sums = likeness.sum(axis=1) - likeness.diagonal()
    return int((sums[1:] > sums[0]).sum())


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


class _Key:
    """The search for one key. Meanings are compared for the few rows about to be taken, not for the pool."""

    def __init__(self, pool: Pool, codes: _Codes, caps: Caps, row: int, similar: Vectors) -> None:
        self.pool, self.codes, self.caps, self.row, self.similar = pool, codes, caps, row, similar
        self.dealt = stable_hash(codes.run_seed, "medoid", pool.ids[row]) % 4
        self.allowed: Mask = similar <= caps.proverb
        self.allowed &= codes.labels != codes.labels[row]
        self.allowed &= codes.groups != codes.groups[row]
        self.allowed[row] = False
        cluster = int(pool.clusters[row])
        self.own = codes.members[cluster]
        self.alone = int(self.own.sum()) == 1
        self.home = codes.members[int(pool.nearest[cluster])] if self.alone else self.own
        self.first: int | None = None
        self.second: int | None = None

    def find_relatives(self) -> None:
        """Set the same-cluster distractor and the near-match, None where there is no candidate."""
        self.first = self._most_similar(self.home)
        if self.first is not None:
            self.second = self._most_similar(self._outside(self.first))

    def choice(self, levels: Levels) -> Choice:
        """The three distractors; of the rows that can be third, those on the lowest level are wanted."""
        if self.first is None:
            return self._rejected(SAME_CLUSTER, self.home)
        if self.second is None:
            return self._rejected(NEAR_MATCH, self._outside(self.first))
        scope = self._outside(self.first, self.second)
        third = self._first_by_hash(scope, levels)
        if third is None:
            return self._rejected(RANDOM_CLUSTER, scope)
        rows = (self.first, self.second, third)
        roles = (SAME_CLUSTER_NEAREST if self.alone else SAME_CLUSTER, NEAR_MATCH, RANDOM_CLUSTER)
        return Choice(rows, roles, medoid_rank(self.pool.texts[[self.row, *rows]]))

    def _outside(self, *taken: int) -> Mask:
        """Rows of other clusters that are no variants of what is taken."""
        scope = ~self.own
        for row in taken:
            scope &= self.codes.groups != self.codes.groups[row]
        return scope

    def _most_similar(self, scope: Mask) -> int | None:
        """The allowed row of the scope with the highest similarity."""
        left = np.where(self.allowed & scope, self.similar, np.float32(-np.inf))
        for tied in self._from_the_top(left):
            tied = tied[self._meaning_allows(tied)]
            if len(tied):
                return int(tied[self.codes.order(self.row, tied).argmin()])
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

    def _first_by_hash(self, scope: Mask, levels: Levels) -> int | None:
        """The allowed row of the scope on the lowest level, the first in hash order."""
        rows = np.flatnonzero(self.allowed & scope)
        level_of = levels[rows]
        for level in range(4):
            here = rows[level_of == level]
            if not len(here):
                continue
            order = self.codes.order(self.row, here)
            found = here[[order.argmin()]]
            if not self._meaning_allows(found)[0]:
                found = here[order.argsort()]
                found = found[self._meaning_allows(found)]
            if len(found):
                return int(found[0])
        return None

    def _meaning_allows(self, rows: Numbers) -> Mask:
        if self.caps.meaning is None:
            return np.ones(len(rows), dtype=bool)
        allows: Mask = self.pool.meanings[rows] @ self.pool.meanings[self.row] <= self.caps.meaning
        return allows

    def _rejected(self, role: str, scope: Mask) -> Choice:
        codes, key = self.codes, self.row
        rows = np.flatnonzero(scope)
        rows = rows[rows != key]
        numbers = {
            "cluster_size": int(self.own.sum()),
            "candidates": len(rows),
            "same_label": int((codes.labels[rows] == codes.labels[key]).sum()),
            "variants": int((codes.groups[rows] == codes.groups[key]).sum()),
            "above_proverb_cap": int((self.similar[rows] > self.caps.proverb).sum()),
            "above_meaning_cap": int((~self._meaning_allows(rows)).sum()),
        }
        return Choice((), (), -1, f"no_{role}_candidate", numbers)


def _any(texts: Vectors, similar: Vectors, keys: Sequence[_Key]) -> Iterator[Levels]:
    """The paper's rule: one third option is as good as another."""
    alike = np.zeros(len(texts), dtype=np.int8)
    for _ in keys:
        yield alike


def _balanced(texts: Vectors, similar: Vectors, keys: Sequence[_Key]) -> Iterator[Levels]:
    """How far the key's medoid rank with each third option is from the rank that was dealt to the key.

    Distractors are chosen around the key, so it tends to be the options' medoid: a shortcut. Dealing ranks
    0-3 by hash makes the medoid the key about as often as chance. The last rank is rarely to be had, since
    the other two distractors are near the key; the nearest rank then stands in.
    """
    firsts = [key.row if key.first is None else key.first for key in keys]
    seconds = [key.row if key.second is None else key.second for key in keys]
    to_first, to_second = texts[firsts] @ texts.T, texts[seconds] @ texts.T
    for at, key in enumerate(keys):
        to_key = similar[at]
        key_first, key_second, both = to_key[firsts[at]], to_key[seconds[at]], to_first[at, seconds[at]]
        # The key's summed similarity against that of the first, the second and the third distractor.
        ranks = (to_first[at] - to_key > key_second - both).view(np.int8)
        ranks += (to_second[at] - to_key > key_first - both).view(np.int8)
        ranks += (to_first[at] + to_second[at] > key_first + key_second).view(np.int8)
        ranks -= np.int8(key.dealt)
        yield np.abs(ranks, out=ranks)


# For each key a level of every row of the pool; of the rows on the lowest level the first by hash is taken.
_RULES: dict[Rule, Callable[[Vectors, Vectors, Sequence[_Key]], Iterator[Levels]]] = {
    "paper": _any,
    "balanced": _balanced,
}
