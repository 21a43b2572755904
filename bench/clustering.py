"""The k search against scikit-learn's loop of fits in one run: identical, how much faster, memory."""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
import numpy.typing as npt
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from pipeline.capr.clustering import PAPER_K, predicted_bytes, search_k

DIMENSION = 384


def labels_like(n: int) -> npt.NDArray[np.float64]:
    """Unit vectors in sixty loose bundles, as theme labels are."""
    generator = np.random.default_rng(n)
    centers = generator.normal(size=(60, DIMENSION))
    points = centers[generator.integers(0, 60, n)] + 1.2 * generator.normal(size=(n, DIMENSION))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points.astype(np.float32).astype(np.float64)


def _most_kib() -> int:
    """The most memory this process ever held, in KiB (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--labels", type=int, default=4000)
    n = arguments.parse_args().labels
    vectors = labels_like(n)
    weights = [1 + i % 5 for i in range(n)]
    low, high = PAPER_K

    before = _most_kib()
    start = time.perf_counter()
    found = search_k(vectors, weights, low, high)
    ours = time.perf_counter() - start
    peak = (_most_kib() - before) * 1024

    start = time.perf_counter()
    theirs = {}
    for k in range(low, high + 1):
        labels = AgglomerativeClustering(n_clusters=k, linkage="ward").fit_predict(vectors)
        theirs[k] = (labels, silhouette_samples(vectors, labels))
    loop = time.perf_counter() - start

    apart = max(
        max(
            abs((score.weighted or 0) - float(np.average(theirs[score.k][1], weights=weights))),
            abs((score.unweighted or 0) - float(theirs[score.k][1].mean())),
        )
        for score in found.scores
    )
    same_labels = all(
        adjusted_rand_score(theirs[k][0], search_k(vectors, weights, k, k).clusters) == 1.0
        for k in (low, found.k, high)
    )
    best = max(theirs, key=lambda k: (float(np.average(theirs[k][1], weights=weights)), -k))
    report = {
        "labels": n,
        "k": found.k,
        "k_of_the_loop": best,
        "labels_identical": same_labels,
        "silhouettes_apart_at_most": apart,
        "seconds": round(ours, 2),
        "loop_seconds": round(loop, 2),
        "times_faster": round(loop / ours, 1),
        "peak_mib": round(peak / 2**20, 1),
        "predicted_mib": round(predicted_bytes(n, DIMENSION) / 2**20, 1),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
