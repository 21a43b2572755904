"""Distractors for 30,000 idioms, vectors and clusters given: seconds and peak memory, one JSON line a rule.

Reads the idioms of ``zh_chengyu`` below ADAGE_REALDATA or ../shared/data, else makes as many random
vectors. Idiom vectors are hashed character profiles: the search is timed, not the embedder.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.capr.calibration import calibrated_cap, within_pairs
from pipeline.capr.candidates import Caps, Pool, Rule, choose
from pipeline.capr.clustering import centroids, join_nearest
from pipeline.embed.interface import Vectors
from pipeline.hashing import stable_hash, stable_order

DIMENSION = 384
CLUSTERS = 25
FOLDER = Path(os.environ.get("ADAGE_REALDATA", Path(__file__).parents[2] / "shared" / "data"))


def profile(texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts' characters and pairs of characters, each a hashed direction."""
    directions: dict[str, Vectors] = {}
    rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for row, text in enumerate(texts):
        for part in [*text, *(text[i : i + 2] for i in range(len(text) - 1))]:
            if part not in directions:
                generator = np.random.default_rng(stable_hash("direction", part))
                directions[part] = generator.normal(size=DIMENSION).astype(np.float32)
            rows[row] += directions[part]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def vectors(n: int) -> tuple[list[str], Vectors, Vectors, str]:
    """Ids, text vectors, meaning vectors and where they are from."""
    file = FOLDER / "zh_chengyu" / "chengyu.json"
    if not file.is_file():
        points = np.random.default_rng(1).normal(size=(2, n, DIMENSION)).astype(np.float32) + 0.5
        points /= np.linalg.norm(points, axis=2, keepdims=True)
        return [f"p{i}" for i in range(n)], points[0], points[1], "random vectors"
    idioms = {row["word"]: row["explanation"] for row in json.loads(file.read_text(encoding="utf-8"))}
    words = stable_order(idioms, "bench")[:n]
    return words, profile(words), profile([idioms[word] for word in words]), "zh_chengyu"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--proverbs", type=int, default=30_000)
    ids, texts, meanings, source = vectors(arguments.parse_args().proverbs)
    n = len(ids)
    clusters = join_nearest(texts[:CLUSTERS].astype(np.float64), texts)
    centers = centroids(texts, clusters, [1] * n)
    apart = ((centers[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2) + np.diag([np.inf] * CLUSTERS)
    pool = Pool(
        ids=ids,
        clusters=clusters,
        # Some labels are shared, as themes are.
        labels=[f"theme {stable_hash('theme', i) % (n // 3)}" for i in ids],
        groups=ids,
        texts=texts,
        meanings=meanings,
        nearest=apart.argmin(axis=1),
    )
    caps = Caps(calibrated_cap(within_pairs(texts)).cap, calibrated_cap(within_pairs(meanings)).cap)
    rules: tuple[Rule, ...] = ("paper", "balanced")
    for rule in rules:
        start = time.perf_counter()
        choices = choose(pool, list(range(n)), caps, rule, 1)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ranks = Counter(choice.medoid_rank for choice in choices if not choice.reason)
        report = {
            "proverbs": n,
            "vectors": source,
            "rule": rule,
            "seconds": round(seconds, 1),
            "peak_gib": round(peak / 2**20, 2),
            "rejected": dict(Counter(choice.reason for choice in choices if choice.reason)),
            "medoid_rank_shares": [round(ranks[r] / max(1, ranks.total()), 3) for r in range(4)],
            "caps": [caps.proverb, caps.meaning],
        }
        print(json.dumps(report))


if __name__ == "__main__":
    main()
