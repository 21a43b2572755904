"""Stage 2, pass 2: theme labels are embedded and grouped (ADAGE paper, section 3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from pipeline.capr.base import Base
from pipeline.capr.clustering import centroids, check_memory, join_nearest, k_range, search_k
from pipeline.capr.themes import same_theme, theme_words
from pipeline.capr.vectors import NO_EMBEDDING, usable
from pipeline.embed.interface import Embedder, Vectors
from pipeline.params import Params
from pipeline.store.result import Rejection, StageResult


class ClusterParams(Params):
    """``k_range``: the paper's 10-25, or adapted to the number of proverbs. ``same_label`` is the cosine from
    which two labels are one theme written twice; ``memory_gib`` bounds the search."""

    k_range: Literal["paper", "adapted"] = "adapted"
    same_label: float = Field(default=0.999, ge=0, le=1)
    memory_gib: float = Field(default=8, gt=0)


def cluster(
    labels: pa.Table, proverbs: pa.Table, embedder: Embedder, params: ClusterParams, base: Base | None
) -> StageResult:
    """Group proverbs by theme label; keeps (proverb_id, label, cluster_id, label_key).

    Distinct labels are embedded once each; labels that are one theme count once and are reported as
    ``doubled_labels``. Clusters are numbered by their alphabetically first label, whatever the row order.
    On a base dataset its proverbs keep their clusters and new labels join the nearest one; those of its
    proverbs that are no longer in ``proverbs`` hold their place in that reckoning and are rejected. A label
    without a usable vector is rejected with its proverbs; the others go on. Raises StageError where fewer
    than 4 themes are left, or the search needs more memory than ``memory_gib``.
    """
    if base is None:
        return _search(labels, embedder, params)
    return _join(labels, set(proverbs["proverb_id"].to_pylist()), embedder, params, base)


def _search(labels: pa.Table, embedder: Embedder, params: ClusterParams) -> StageResult:
    given = labels.to_pylist()
    asked = sorted({row["label"] for row in given})
    check_memory(len(asked), params.memory_gib)
    names, vectors = _usable(asked, embedder.embed(asked))
    place = {name: i for i, name in enumerate(names)}
    rows = [row for row in given if row["label"] in place]
    counts = Counter(row["label"] for row in rows)
    first = same_theme(names, vectors, params.same_label)
    themes = sorted(set(first))
    weights = [sum(counts[names[i]] for i in range(len(names)) if first[i] == theme) for theme in themes]
    searched = k_range(len(rows), len(themes), params.k_range)
    found = search_k(vectors[themes], weights, searched.low, searched.high)
    cluster_of_theme = dict(zip(themes, found.clusters.tolist(), strict=True))
    kept: list[dict[str, Any]] = []
    for row in rows:
        theme = first[place[row["label"]]]
        kept.append(
            {
                "proverb_id": row["proverb_id"],
                "label": row["label"],
                "cluster_id": cluster_of_theme[theme],
                "label_key": names[theme],
            }
        )
    facts = {
        "k": found.k,
        "k_searched": [searched.low, searched.high],
        "k_note": searched.note,
        "k_skipped_for_lack_of_other_clusters": found.skipped,
        "silhouettes": [
            {"k": s.k, "weighted": s.weighted, "unweighted": s.unweighted, "why": s.why} for s in found.scores
        ],
        "distinct_labels": len(names),
        "doubled_labels": [
            {"label": name, "same_as": names[theme]}
            for name, theme in zip(names, first, strict=True)
            if names[theme] != name
        ],
    }
    return StageResult(kept, _without_vector(given, place), len(given), facts)


def _join(
    labels: pa.Table, there: Collection[str], embedder: Embedder, params: ClusterParams, base: Base
) -> StageResult:
    """The base's clusters as they are, and each new label in the one whose mean label vector is nearest."""
    old = base.clustered
    place_of = {row["label"]: (row["label_key"], row["cluster_id"]) for row in old}
    carried = Counter((row["label_key"], row["cluster_id"]) for row in old)
    frozen = sorted(carried)
    new = labels.to_pylist()
    asked = sorted({row["label"] for row in new} - set(place_of))
    vectors = embedder.embed([key for key, _ in frozen] + asked)
    of_frozen = vectors[: len(frozen)]
    names, of_new = _usable(asked, vectors[len(frozen) :])
    numbers, dense = np.unique([cluster_id for _, cluster_id in frozen], return_inverse=True)
    centers = centroids(of_frozen, dense, [carried[theme] for theme in frozen])
    nearest = numbers[join_nearest(centers, of_new)]
    by_words = {theme_words(key): at for at, (key, _) in enumerate(frozen)}
    doubled: list[dict[str, str]] = []
    themes, points = list(frozen), of_frozen
    for at, name in enumerate(names):
        # A label that is a known theme written otherwise is that theme, wherever the nearest mean lies.
        likeness = points @ of_new[at]
        twin = by_words.get(theme_words(name), int(likeness.argmax()))
        if theme_words(name) in by_words or likeness[twin] >= params.same_label:
            place_of[name] = themes[twin]
            doubled.append({"label": name, "same_as": themes[twin][0]})
        else:
            place_of[name] = (name, int(nearest[at]))
            by_words[theme_words(name)] = len(themes)
            themes.append(place_of[name])
            points = np.vstack([points, of_new[at]])
    stayed = [row for row in old if row["proverb_id"] in there]
    gone = [Rejection(row["proverb_id"], "proverb_removed") for row in old if row["proverb_id"] not in there]
    kept = stayed + [
        {
            "proverb_id": row["proverb_id"],
            "label": row["label"],
            "label_key": place_of[row["label"]][0],
            "cluster_id": place_of[row["label"]][1],
        }
        for row in new
        if row["label"] in place_of
    ]
    facts = {
        "k": len(numbers),
        "k_searched": [len(numbers), len(numbers)],
        "k_note": f"the clusters of base {base.version} are kept",
        "k_skipped_for_lack_of_other_clusters": [],
        "silhouettes": [],
        "distinct_labels": len({row["label"] for row in kept}),
        "doubled_labels": doubled,
        "joined_the_base": len(kept) - len(stayed),
    }
    return StageResult(kept, gone + _without_vector(new, place_of), len(old) + len(new), facts)


def _usable(names: list[str], vectors: Vectors) -> tuple[list[str], Vectors]:
    sound = usable(vectors)
    return [name for name, good in zip(names, sound, strict=True) if good], vectors[sound]


def _without_vector(rows: list[dict[str, Any]], known: Container[str]) -> list[Rejection]:
    return [
        Rejection(row["proverb_id"], NO_EMBEDDING, {"label": row["label"]})
        for row in rows
        if row["label"] not in known
    ]
