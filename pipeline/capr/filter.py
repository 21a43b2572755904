"""Stage 4: automated filtering of scenarios (ADAGE paper, section 3.2)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from pipeline.capr.base import Base
from pipeline.capr.calibration import PAPER_CAP, calibrated_cap, cross_pairs
from pipeline.embed.interface import Embedder
from pipeline.language.language import Language
from pipeline.params import Params
from pipeline.store.result import Rejection, StageResult


class FilterParams(Params):
    """The paper's thresholds. ``similarity_cap`` is its fixed 0.85 or calibrated to the embedder;
    ``near_duplicate`` bounds the cosine of two scenarios of one proverb (our addition)."""

    script_share: float = Field(default=0.70, ge=0, le=1)
    least_words: int = Field(default=10, ge=1)
    most_words: int = Field(default=120, ge=1)
    overlap: float = Field(default=0.30, ge=0, le=1)
    similarity_cap: Literal["fixed", "calibrated"] = "calibrated"
    near_duplicate: float = Field(default=0.98, ge=0, le=1)


def filter(
    scenarios: pa.Table,
    proverbs: pa.Table,
    language: Language,
    embedder: Embedder,
    params: FilterParams,
    base: Base | None,
) -> StageResult:
    """Keep scenarios in the language, 10-120 words long, that neither quote nor paraphrase their proverb.

    Each scenario is analysed and embedded once. Checks run in the paper's order and the first that fails
    names the rejection; near-duplicates within a proverb come last, the first by id stays. A base dataset's
    cap is kept.
    """
    rows = scenarios.to_pylist()
    known = {row["proverb_id"]: row for row in proverbs.to_pylist()}
    used = sorted({row["proverb_id"] for row in rows})
    place = {proverb_id: i for i, proverb_id in enumerate(used)}
    vectors = embedder.embed([known[p]["text"] for p in used] + [row["text"] for row in rows])
    of_proverb, of_scenario = vectors[: len(used)], vectors[len(used) :]
    owner = np.array([place[row["proverb_id"]] for row in rows], dtype=np.int64)
    cap = PAPER_CAP
    calibration: dict[str, Any] = {"cap": cap, "how": "fixed"}
    if base:
        cap = base.caps.scenario
        calibration = {"cap": cap, "how": f"frozen with base {base.version}"}
    elif params.similarity_cap == "calibrated" and rows:
        found = calibrated_cap(cross_pairs(of_proverb, of_scenario, owner))
        cap = found.cap
        calibration = {"how": "calibrated", **asdict(found)}
    proverb_facts = {p: language.analyse(known[p]["text"]) for p in used}
    kept: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    kept_of: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        facts = language.analyse(row["text"], params.script_share)
        measured = {
            "words": facts.word_count,
            "script_share": facts.verdict.script_share,
            "verdict": facts.verdict.verdict,
            "overlap": facts.overlap_with(proverb_facts[row["proverb_id"]]),
            "similarity": float(of_scenario[i] @ of_proverb[owner[i]]),
        }
        reason = _reason(measured, cap, params)
        nearest = max(
            kept_of[row["proverb_id"]], key=lambda j: float(of_scenario[i] @ of_scenario[j]), default=None
        )
        numbers: dict[str, Any] = {"text": row["text"], **measured, "similarity_cap": cap}
        if not reason and nearest is not None:
            likeness = float(of_scenario[i] @ of_scenario[nearest])
            if likeness > params.near_duplicate:
                reason = "near_duplicate"
                numbers |= {
                    "of": rows[nearest]["scenario_id"],
                    "likeness": likeness,
                    "at_most": params.near_duplicate,
                }
        if reason:
            rejected.append(Rejection(row["scenario_id"], reason, numbers))
            continue
        kept_of[row["proverb_id"]].append(i)
        kept.append({**row, **measured, "similarity_cap": cap})
    cut = sum(embedder.cut([row["text"] for row in rows]))
    return StageResult(
        kept, rejected, len(rows), {"similarity_cap": calibration, "longer_than_embedder_window": cut}
    )


def _reason(measured: dict[str, Any], cap: float, params: FilterParams) -> str:
    if measured["script_share"] is None or measured["script_share"] < params.script_share:
        return "wrong_script"
    if measured["verdict"] == "no":
        return "wrong_language"
    if measured["words"] < params.least_words:
        return "too_short"
    if measured["words"] > params.most_words:
        return "too_long"
    if measured["overlap"] > params.overlap:
        return "overlap"
    return "too_similar" if measured["similarity"] > cap else ""
