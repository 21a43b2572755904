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
    """The chosen k, each label's cluster under it, and the scores of every k searched."""

    k: int
    clusters: Labels
    scores: list[KScore]


def k_range(n_proverbs: int, n_labels: int, setting: Literal["paper", "adapted"]) -> KRange:
    """The range of k to search.

    ``adapted``: max(2, min(10, n_proverbs // 10)) to min(25, n_labels // 2). ``paper``: 10 to 25, narrowed
    only where fewer labels make it impossible. Raises StageError below 4 distinct labels.
    """
    if n_labels < LEAST_LABELS:
        raise StageError(
            f"{n_labels} distinct theme labels for {n_proverbs} proverbs, at least {LEAST_LABELS} are needed to "
            "cluster; the replies are kept. Use more proverbs (--limit-proverbs) or a better labelling model"
        )
    if setting == "paper":
        low, high = PAPER_K
        # A silhouette needs at least two clusters and one cluster with two labels.
        possible = n_labels - 1
        if high <= possible:
            return KRange(low, high)
        return KRange(
            min(low, possible), possible, f"{n_labels} labels allow k up to {possible}, paper: 10 to 25"
        )
    high = min(PAPER_K[1], n_labels // 2)
    return KRange(min(max(2, min(PAPER_K[0], n_proverbs // 10)), high), high)


def predicted_bytes(n_labels: int) -> int:
    """Memory the search needs at its peak: the condensed distances, Ward's copy, and one square matrix."""
    return 2 * n_labels * n_labels * _BYTES


def check_memory(n_labels: int, limit_bytes: int) -> None:
    """Refuse, before any model call, a search that would not fit."""
    need = predicted_bytes(n_labels)
    if need > limit_bytes:
        raise StageError(
            f"clustering {n_labels} labels needs about {need / 2**30:.1f} GiB, the limit is "
            f"{limit_bytes / 2**30:.1f} GiB: raise capr.cluster.memory_gib in the profile or use fewer proverbs"
        )


def check_vectors(vectors: npt.NDArray[Any], names: Sequence[str]) -> None:
    """Raise StageError naming labels whose vector is not finite or zero: no distance means anything there."""
    bad = ~np.isfinite(vectors).all(axis=1) | (np.abs(vectors).sum(axis=1) == 0)
    if bad.any():
        which = ", ".join(repr(names[i]) for i in np.flatnonzero(bad)[:5])
        raise StageError(f"{int(bad.sum())} labels have no usable embedding (zero or NaN): {which}")


def search_k(vectors: npt.NDArray[Any], weights: Sequence[int], k_low: int, k_high: int) -> KSearch:
    """Cut one Ward tree at every k in [k_low, k_high] and take the k with the highest weighted silhouette.

    ``vectors`` are unit vectors of distinct labels, shape (n, d); ``weights`` counts the proverbs that carry
    each. The tree is the same for every k, so one linkage replaces a fit per k; distances are computed once.
    Ties go to the smaller k. The weighted silhouette is the mean of the labels' silhouettes (Rousseeuw
    1987) weighted by ``weights``. Clusters are numbered by their first label, in the order given.
    """
    points = np.ascontiguousarray(vectors, dtype=np.float64)
    condensed = pdist(points)
    tree = linkage(condensed, method="ward")
    ks = list(range(k_low, k_high + 1))
    cuts = cut_tree(tree, n_clusters=ks)
    distances = _square(condensed, len(points))
    share = np.asarray(weights, dtype=np.float64)
    scores: list[KScore] = []
    for column, k in enumerate(ks):
        values = silhouettes(distances, cuts[:, column])
        if values is None:
            scores.append(KScore(k, None, None, "all labels of some cutting coincide"))
            continue
        scores.append(KScore(k, float(values @ share / share.sum()), float(values.mean())))
    # Rounding: two k whose scores differ by less than the arithmetic's noise are tied.
    best = min(range(len(ks)), key=lambda i: (-round(_value(scores[i]), 9), ks[i]))
    return KSearch(ks[best], _renumber(cuts[:, best].astype(np.int64)), scores)


def silhouettes(distances: Array, clusters: Labels) -> Array | None:
    """Each point's silhouette from a square distance matrix; 0 for a singleton; None for one cluster only."""
    names, index, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    if len(names) < 2 or len(names) == len(clusters):
        return None
    member = np.zeros((len(clusters), len(names)))
    member[np.arange(len(clusters)), index] = 1.0
    sums = distances @ member
    rows = np.arange(len(clusters))
    own = sums[rows, index] / np.maximum(sizes[index] - 1, 1)
    others = sums / sizes
    others[rows, index] = np.inf
    nearest = others.min(axis=1)
    widest = np.maximum(own, nearest)
    values = np.divide(nearest - own, widest, out=np.zeros_like(own), where=widest > 0)
    values[sizes[index] == 1] = 0.0
    return values


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
    return squared.argmin(axis=1).astype(np.int64)


def _square(condensed: Array, n: int) -> Array:
    full = np.zeros((n, n))
    start = 0
    for i in range(n - 1):
        row = condensed[start : start + n - 1 - i]
        full[i, i + 1 :] = row
        full[i + 1 :, i] = row
        start += n - 1 - i
    return full


def _renumber(clusters: Labels) -> Labels:
    order: dict[int, int] = {}
    for cluster in clusters.tolist():
        order.setdefault(cluster, len(order))
    return np.array([order[c] for c in clusters.tolist()], dtype=np.int64)


def _value(score: KScore) -> float:
    return -np.inf if score.weighted is None else score.weighted
