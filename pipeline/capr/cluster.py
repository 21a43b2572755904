"""Stage 2, pass 2: theme labels are embedded and grouped (ADAGE paper, section 3.1)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from pipeline.capr.clustering import check_memory, check_vectors, k_range, search_k
from pipeline.embed.interface import Embedder, Vectors
from pipeline.params import Params
from pipeline.store.result import StageResult


class ClusterParams(Params):
    """``k_range``: the paper's 10-25, or adapted to the number of proverbs. ``same_label`` is the cosine from
    which two labels are one theme written twice; ``memory_gib`` bounds the search."""

    k_range: Literal["paper", "adapted"] = "adapted"
    same_label: float = Field(default=0.999, ge=0, le=1)
    memory_gib: float = Field(default=8, gt=0)


def cluster(labels: pa.Table, embedder: Embedder, params: ClusterParams) -> StageResult:
    """Group proverbs by theme label; keeps (proverb_id, label, cluster_id, label_key).

    Distinct labels are embedded once each; labels that are the same point are one theme, reported as
    ``doubled_labels``. Clusters are numbered by their alphabetically first label, whatever the row order.
    """
    rows = labels.to_pylist()
    counts = Counter(row["label"] for row in rows)
    names = sorted(counts)
    check_memory(len(names), int(params.memory_gib * 2**30))
    vectors = embedder.embed(names)
    check_vectors(vectors, names)
    first = _first_alike(vectors, params.same_label)
    themes = sorted(set(first))
    weights = [sum(counts[names[i]] for i in range(len(names)) if first[i] == theme) for theme in themes]
    searched = k_range(len(rows), len(themes), params.k_range)
    found = search_k(vectors[themes], weights, searched.low, searched.high)
    cluster_of_theme = dict(zip(themes, found.clusters.tolist(), strict=True))
    place = {name: i for i, name in enumerate(names)}
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
    return StageResult(kept, [], len(rows), facts)


def _first_alike(vectors: Vectors, least: float) -> list[int]:
    """For each label the first earlier label that is the same point, else itself."""
    alike = vectors @ vectors.T >= least
    np.fill_diagonal(alike, True)
    first = alike.argmax(axis=1)
    # Alike is not transitive: follow to one that stands for itself.
    return [int(first[i]) if first[first[i]] == first[i] else i for i in range(len(vectors))]
