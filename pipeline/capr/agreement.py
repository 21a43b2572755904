"""How far a jury agrees, rubric by rubric (ADAGE paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

import krippendorff
import numpy as np

from pipeline.capr.rubrics import ACCEPTABLE, RUBRICS

_DIGITS = 6

Ratings = dict[str, dict[str, float]]
"""Judge -> item -> rating; what is missing was not rated."""


def agreement(judgements: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Judge rows -> for each rubric alpha, raw agreement and the majority's pass rate.

    ``alpha`` is Krippendorff's on the scores as they are and ``alpha_standardised`` on each judge's scores
    brought to mean 0 and deviation 1, as the paper compares them; distances are squared differences
    (interval). ``raw_agreement`` stands beside them because alpha is low, even 0, where almost all ratings
    are equal: it is the share of pairs of judges, over all items, that gave the same score. ``pass_rate`` is
    the share of items that more than half of the judges find acceptable (the paper's 2 of 3), over items
    with a valid rating: items on which every judge failed are flagged, and fail no rubric in the paper's
    table 3. What is undefined is None, with its reason under ``why``. A rating of a judge that could not
    answer is missing, never a score.
    """
    found = {}
    for rubric in RUBRICS:
        ratings: Ratings = {}
        for row in judgements:
            scores = ratings.setdefault(row["judge"], {})
            if row["status"] == "ok":
                scores[row["item_id"]] = row[rubric]
        found[rubric] = _of_rubric(ratings, ACCEPTABLE[rubric])
    return found


def _of_rubric(ratings: Ratings, acceptable: int) -> dict[str, Any]:
    by_item: dict[str, list[float]] = {}
    for judge in sorted(ratings):
        for item, score in ratings[judge].items():
            by_item.setdefault(item, []).append(score)
    pairs = [one == other for scores in by_item.values() for one, other in combinations(scores, 2)]
    passed = [sum(s >= acceptable for s in scores) * 2 > len(ratings) for scores in by_item.values()]
    why: dict[str, str] = {}
    numbers = {
        "alpha": _alpha(ratings, "alpha", why),
        "alpha_standardised": _alpha(_standardised(ratings, why), "alpha_standardised", why),
        "raw_agreement": _share(pairs, "raw_agreement", "no item has two valid ratings", why),
        "pass_rate": _share(passed, "pass_rate", "no item has a valid rating", why),
    }
    return {**numbers, "items": len(by_item), "acceptable_from": acceptable, "why": why}


def _alpha(ratings: Ratings, name: str, why: dict[str, str]) -> float | None:
    raters = [judge for judge in sorted(ratings) if ratings[judge]]
    items = sorted({item for scores in ratings.values() for item in scores})
    if len(raters) < 2:
        why.setdefault(name, f"needs the ratings of two judges, has those of {len(raters)}")
        return None
    table = np.array([[ratings[judge].get(item, np.nan) for item in items] for judge in raters])
    paired = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    if not paired.size:
        why.setdefault(name, "no item has two valid ratings")
        return None
    if np.nanmin(paired) == np.nanmax(paired):
        why.setdefault(name, f"all {int((~np.isnan(paired)).sum())} ratings are equal")
        return None
    return round(float(krippendorff.alpha(paired, level_of_measurement="interval")), _DIGITS)


def _standardised(ratings: Ratings, why: dict[str, str]) -> Ratings:
    """Each judge's scores at mean 0 and deviation 1; a judge that always gives one score has none."""
    found: Ratings = {}
    for judge, scores in sorted(ratings.items()):
        spread = pstdev(scores.values()) if scores else 0.0
        if spread:
            # Rounded, since alpha groups equal values: 0.1 + 0.2 and 0.3 must be one.
            middle = fmean(scores.values())
            found[judge] = {i: round((score - middle) / spread, 9) for i, score in scores.items()}
        elif scores:
            why[f"alpha_standardised without {judge}"] = f"all its {len(scores)} ratings are equal"
    return found


def _share(values: Sequence[bool], name: str, reason: str, why: dict[str, str]) -> float | None:
    if not values:
        why[name] = reason
        return None
    return round(sum(values) / len(values), _DIGITS)
