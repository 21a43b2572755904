from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from pipeline.capr.clustering import (
    KRange,
    centroids,
    check_memory,
    join_nearest,
    k_range,
    predicted_bytes,
    search_k,
)
from pipeline.embed.interface import Vectors
from pipeline.errors import StageError


def _unit(rows: list[list[float]]) -> Vectors:
    vectors = np.array(rows, dtype=np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


# Three directions in the plane, two or three labels round each: by hand, three clusters.
THREE = _unit([[1, 0], [1, 0.05], [0, 1], [0.05, 1], [0, 0.9], [-1, -1], [-1, -0.9]])


def test_three_groups_are_found() -> None:
    found = search_k(THREE, [1] * 7, 2, 5)
    assert found.k == 3
    assert found.clusters.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert [score.k for score in found.scores] == [2, 3, 4, 5]


def test_silhouettes_and_labels_are_those_of_scikit_learn() -> None:
    points = np.random.default_rng(7).normal(size=(120, 16))
    vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    points = vectors.astype(np.float64)
    weights = [1 + i % 4 for i in range(120)]
    found = search_k(vectors, weights, 5, 12)
    for score in found.scores:
        labels = AgglomerativeClustering(n_clusters=score.k, linkage="ward").fit_predict(points)
        values = silhouette_samples(points, labels)
        assert score.unweighted == pytest.approx(values.mean(), abs=1e-6)
        assert score.weighted == pytest.approx(np.average(values, weights=weights), abs=1e-6)
        if score.k == found.k:
            assert adjusted_rand_score(labels, found.clusters) == 1.0


def test_weights_decide_between_k() -> None:
    # Labels 0-1 sit tight; 2-3 are loose. The more proverbs carry the tight ones, the higher the score.
    vectors = _unit([[1, 0], [1, 0.01], [0, 1], [0.4, 1]])
    light = search_k(vectors, [1, 1, 1, 1], 2, 2).scores[0]
    heavy = search_k(vectors, [9, 9, 1, 1], 2, 2).scores[0]
    assert light.weighted == light.unweighted
    assert heavy.weighted is not None
    assert light.weighted is not None
    assert heavy.weighted > light.weighted


def test_row_order_decides_nothing_but_the_numbers() -> None:
    order = [6, 2, 0, 5, 3, 1, 4]
    shuffled = search_k(THREE[order], [1] * 7, 2, 5)
    # Numbered by the first label in the order given: 6 and 5 are 0, then 2, 4, 3 are 1, then 0 and 1.
    assert shuffled.k == 3
    assert shuffled.clusters.tolist() == [0, 1, 2, 0, 1, 2, 1]


def test_equal_scores_go_to_the_smaller_k() -> None:
    # Only the coinciding pair at 0 degrees carries proverbs; it is its own cluster at k = 2 and at k = 3.
    vectors = _unit([[1, 0], [1, 0], [-1, 0.4], [-1, 0.4], [-1, -0.4], [-1, -0.4]])
    found = search_k(vectors, [1, 1, 0, 0, 0, 0], 2, 3)
    assert [score.weighted for score in found.scores] == [1.0, 1.0]
    assert found.k == 2


def test_golden_clusters() -> None:
    # Five bundles of labels on a cone, so five clusters; the silhouettes were read off once.
    turns = [72 * (i % 5) + 4 * (i // 5) + i % 3 for i in range(23)]
    vectors = _unit([[np.cos(np.deg2rad(t)), np.sin(np.deg2rad(t)), 0.5] for t in turns])
    found = search_k(vectors, [1 + i % 2 for i in range(23)], 2, 8)
    assert found.k == 5
    assert found.clusters.tolist() == [i % 5 for i in range(23)]
    weighted = [score.weighted for score in found.scores]
    expected = [0.447083, 0.545393, 0.699257, 0.881263, 0.820989, 0.774257, 0.648846]
    assert weighted == pytest.approx(expected, abs=1e-5)


def test_duplicates_are_one_topic() -> None:
    # Four pairs of coinciding labels: four clusters are perfect, a fifth would part two equal labels.
    cross = _unit([[1, 0], [1, 0], [0, 1], [0, 1], [-1, 0], [-1, 0], [0, -1], [0, -1]])
    found = search_k(cross, [1] * 8, 2, 5)
    assert found.k == 4
    assert found.scores[2].weighted == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("proverbs", "labels", "setting", "expected"),
    [
        (69, 60, "adapted", KRange(6, 25)),
        (822, 400, "adapted", KRange(10, 25)),
        (12, 9, "adapted", KRange(2, 4)),
        (30, 4, "adapted", KRange(2, 2)),
        (822, 400, "paper", KRange(10, 25)),
        (69, 18, "paper", KRange(10, 17, "18 labels allow k up to 17, paper: 10 to 25")),
    ],
)
def test_range_of_k(proverbs: int, labels: int, setting: str, expected: KRange) -> None:
    assert k_range(proverbs, labels, setting) == expected  # type: ignore[arg-type]


def test_a_cut_that_leaves_no_strangers_is_skipped_while_another_is_to_be_had() -> None:
    # One outlier: the best silhouette is at k = 2, but then nobody but the outlier is in another cluster.
    vectors = _unit([[1, 0], [1, 0.1], [1, 0.2], [1, 0.3], [-1, 0]])
    found = search_k(vectors, [1] * 5, 2, 3)
    assert (found.k, found.skipped) == (3, [2])
    assert found.clusters.tolist() == [0, 0, 1, 1, 2]
    weighted = {score.k: score.weighted or 0 for score in found.scores}
    assert weighted[2] > 0.7 > 0.4 > weighted[3]
    # A second proverb on the outlier's label is a second stranger.
    assert search_k(vectors, [1, 1, 1, 1, 2], 2, 3).skipped == []
    # Nothing else to be had: the only k is taken.
    assert search_k(vectors, [1] * 5, 2, 2).k == 2


def test_fewer_than_four_labels_stop_the_stage_with_counts() -> None:
    with pytest.raises(StageError, match="3 distinct theme labels for 12 proverbs"):
        k_range(12, 3, "adapted")


def test_all_labels_alike_is_a_null_with_its_reason() -> None:
    same = np.ones((5, 3), dtype=np.float32) / np.sqrt(3).astype(np.float32)
    found = search_k(same, [1] * 5, 2, 3)
    assert found.k == 2
    assert [score.weighted for score in found.scores] == [None, None]
    assert found.scores[0].why == "undefined: all labels have the same embedding"


def test_a_cut_into_single_labels_has_no_silhouette() -> None:
    found = search_k(THREE, [1] * 7, 6, 7)
    assert found.k == 6
    assert found.scores[1].weighted is None
    assert found.scores[1].why == "undefined for 7 clusters of 7 labels"


def test_memory_is_refused_before_it_is_taken() -> None:
    with pytest.raises(
        StageError, match=r"clustering 119000 labels needs about 113\.\d GiB, the limit is 8\.0"
    ):
        check_memory(119_000, 8)
    check_memory(4_000, 8)


def test_the_prediction_covers_what_is_used() -> None:
    points = np.random.default_rng(1).normal(size=(700, 48))
    vectors = points / np.linalg.norm(points, axis=1, keepdims=True)
    tracemalloc.start()
    search_k(vectors, [1] * 700, 10, 25)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used <= predicted_bytes(700, 48)


def test_new_labels_join_the_nearest_centroid() -> None:
    centers = centroids(THREE, np.array([0, 0, 1, 1, 1, 2, 2]), [1] * 7)
    assert join_nearest(centers, _unit([[0.9, 0.1], [-0.5, -0.6], [0.1, 0.8]])).tolist() == [0, 2, 1]
