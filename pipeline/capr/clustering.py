"""Ward clustering of theme labels and the search for the number of clusters (ADAGE paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import pdist

from pipeline.errors import StageError

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

PAPER_K = (10, 25)
"""The paper searches k in [10, 25], both included."""

LEAST_LABELS = 4
_BYTES = 8
# Two k whose scores differ by no more than rounding are tied.
_TIE = 1e-9


_STRANGERS = 2
"""Distractors of an item that come from other clusters: the near-match and the random one."""


@dataclass(frozen=True)
class KRange:
    """The k that are searched, both ends included; ``note`` says where the paper's range was narrowed."""

    low: int
    high: int
    note: str = ""


@dataclass(frozen=True)
class KScore:
    """Silhouettes of one k: weighted by proverbs a label, and plain; None (with ``why``) where undefined."""

    k: int
    weighted: float | None
    unweighted: float | None
    why: str = ""


@dataclass(frozen=True)
class KSearch:
    """The chosen k, each label's cluster under it, the scores of every k searched, and the k skipped."""

    k: int
    clusters: Labels
    scores: list[KScore]
    skipped: list[int]


def k_range(n_proverbs: int, n_labels: int, setting: Literal["paper", "adapted"]) -> KRange:
    """The range of k to search.

    ``adapted``: max(2, min(10, n_proverbs // 10)) to min(25, n_labels // 2). ``paper``: 10 to 25, narrowed
    only where fewer labels make it impossible. Raises StageError below 4 distinct labels.
    """
    if n_labels < LEAST_LABELS:
        raise StageError(
            f"{n_labels} distinct theme labels for {n_proverbs} proverbs, at least {LEAST_LABELS} are needed "
            "to cluster; the replies are kept. Use more proverbs (--limit-proverbs) or a better label model"
        )
    if setting == "paper":
        low, high = PAPER_K
        # A silhouette needs at least two clusters and one cluster with two labels.
        possible = n_labels - 1
        if high <= possible:
            return KRange(low, high)
        note = f"{n_labels} labels allow k up to {possible}, paper: 10 to 25"
        return KRange(min(low, possible), possible, note)
    high = min(PAPER_K[1], n_labels // 2)
    return KRange(min(max(2, min(PAPER_K[0], n_proverbs // 10)), high), high)


def predicted_bytes(n_labels: int, dimension: int = 1024) -> int:
    """Memory the search needs at its peak, in bytes.

    The pairs' distances, Ward's working copy of them, a byte a pair while they are checked, and the vectors.
    """
    pairs = n_labels * (n_labels - 1) // 2
    return pairs * (2 * _BYTES + 1) + n_labels * (dimension + 4 * PAPER_K[1]) * _BYTES


def check_memory(n_labels: int, limit_gib: float) -> None:
    """Refuse, before anything is asked, embedded or allocated, a search that would not fit.

    ``n_labels`` is the number of distinct labels, or before they are known that of the proverbs.
    """
    need = predicted_bytes(n_labels) / 2**30
    if need > limit_gib:
        raise StageError(
            f"clustering {n_labels} labels needs about {need:.1f} GiB, the limit is {limit_gib:.1f} GiB: "
            "raise capr.cluster.memory_gib in the profile or use fewer proverbs (--limit-proverbs)"
        )


def search_k(vectors: npt.NDArray[Any], weights: Sequence[int], k_low: int, k_high: int) -> KSearch:
    """Cut one Ward tree at every k in [k_low, k_high] and take the k with the highest weighted silhouette.

    ``vectors`` are unit vectors of distinct labels, shape (n, d); ``weights`` counts the proverbs that carry
    each. The tree is the same for every k, so one linkage replaces a fit per k; distances are computed once
    and summed once, by the clusters of the finest cut, of which all coarser clusters are unions. Ties go to
    the smaller k. The weighted silhouette is the mean of the labels' silhouettes (Rousseeuw 1987) weighted
    by ``weights``. Clusters are numbered by their first label, in the order given.

    A k under which some cluster leaves fewer than two proverbs outside is skipped while another is to be had:
    an item needs two distractors from other clusters, so that cluster's proverbs could have none.
    """
    ks = list(range(k_low, k_high + 1))
    distances = pdist(np.ascontiguousarray(vectors, dtype=np.float64))
    cuts = cut_tree(linkage(distances, method="ward"), n_clusters=ks).astype(np.int64)
    finest = cuts[:, -1]
    sums = _sums_by_cluster(distances, finest)
    share = np.asarray(weights, dtype=np.float64)
    scores = [_score(sums, finest, cuts[:, column], k, share) for column, k in enumerate(ks)]
    able = [
        i for i, s in enumerate(scores) if s.weighted is not None and _leaves_strangers(cuts[:, i], share)
    ]
    usable = able or list(range(len(ks)))
    best = usable[0]
    for i in usable[1:]:
        if _value(scores[i]) > _value(scores[best]) + _TIE:
            best = i
    return KSearch(
        ks[best], _renumber(cuts[:, best]), scores, [k for i, k in enumerate(ks) if i not in usable]
    )


def centroids(vectors: npt.NDArray[Any], clusters: Labels, weights: Sequence[int]) -> Array:
    """Weighted mean vector of each cluster, shape (k, d)."""
    share = np.asarray(weights, dtype=np.float64)[:, None]
    points = np.asarray(vectors, dtype=np.float64)
    found = np.zeros((int(clusters.max()) + 1, points.shape[1]))
    totals = np.zeros((len(found), 1))
    np.add.at(found, clusters, points * share)
    np.add.at(totals, clusters, share)
    means: Array = found / totals
    return means


def join_nearest(centers: Array, vectors: npt.NDArray[Any]) -> Labels:
    """The nearest center of each vector (Euclidean), ties to the smaller number."""
    points = np.asarray(vectors, dtype=np.float64)
    squared = (centers**2).sum(axis=1)[None, :] - 2 * points @ centers.T
    nearest: Labels = squared.argmin(axis=1).astype(np.int64)
    return nearest


def _sums_by_cluster(distances: Array, clusters: Labels) -> Array:
    """For each point the summed distance to each cluster, shape (n, k), from the condensed distances.

    Walks the condensed form row by row, so the square matrix (twice the memory) is never made.
    """
    n, k = len(clusters), int(clusters.max()) + 1
    sums = np.zeros((n, k), order="F")
    start = 0
    for i in range(n - 1):
        row = distances[start : start + n - 1 - i]
        sums[i] += np.bincount(clusters[i + 1 :], weights=row, minlength=k)
        sums[i + 1 :, clusters[i]] += row
        start += n - 1 - i
    return sums


def _score(fine_sums: Array, finest: Labels, clusters: Labels, k: int, share: Array) -> KScore:
    """The silhouettes of a cut whose clusters are unions of the finest cut's."""
    sizes = np.bincount(clusters, minlength=k)
    if k < 2 or k >= len(clusters):
        return KScore(k, None, None, f"undefined for {k} clusters of {len(clusters)} labels")
    union = np.zeros((fine_sums.shape[1], k))
    union[finest, clusters] = 1.0
    sums = fine_sums @ union
    rows = np.arange(len(clusters))
    own = sums[rows, clusters] / np.maximum(sizes[clusters] - 1, 1)
    others = sums / sizes
    others[rows, clusters] = np.inf
    nearest = others.min(axis=1)
    widest = np.maximum(own, nearest)
    if not widest.any():
        return KScore(k, None, None, "undefined: all labels have the same embedding")
    values = np.divide(nearest - own, widest, out=np.zeros_like(own), where=widest > 0)
    # By definition, Rousseeuw 1987: a point alone in its cluster scores 0.
    values[sizes[clusters] == 1] = 0.0
    return KScore(k, float(values @ share / share.sum()), float(values.mean()))


def _renumber(clusters: Labels) -> Labels:
    order: dict[int, int] = {}
    for cluster in clusters.tolist():
        order.setdefault(cluster, len(order))
    return np.array([order[c] for c in clusters.tolist()], dtype=np.int64)


def _leaves_strangers(clusters: Labels, share: Array) -> bool:
    """Whether every cluster leaves at least two proverbs outside."""
    carried = np.bincount(clusters, weights=share)
    return bool(share.sum() - carried.max() >= _STRANGERS)


def _value(score: KScore) -> float:
    return -np.inf if score.weighted is None else score.weighted
