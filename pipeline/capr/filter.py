"""Stage 4: automated filtering of scenarios (ADAGE paper, section 3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from pipeline.capr.base import Base
from pipeline.capr.calibration import PAPER_CAP, Similarities, calibrated_cap, cross_pairs, distribution
from pipeline.capr.vectors import NO_EMBEDDING, usable
from pipeline.embed.interface import Embedder, Vectors
from pipeline.language.language import Language
from pipeline.params import Params
from pipeline.store.result import Rejection, StageResult

Numbers = dict[str, Any]


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
    names the rejection; near-duplicates within a proverb come last, the first by id stays. The cap is
    calibrated over pairs of a scenario with any other seed proverb of the language, whatever the limits; a
    base dataset's is kept.
    """
    rows = scenarios.to_pylist()
    seeds = sorted(proverbs.to_pylist(), key=lambda row: row["proverb_id"])
    place = {row["proverb_id"]: i for i, row in enumerate(seeds)}
    texts = [row["text"] for row in rows]
    vectors = embedder.embed([row["text"] for row in seeds] + texts)
    of_proverb, of_scenario = vectors[: len(seeds)], vectors[len(seeds) :]
    cut = embedder.cut(texts)
    owner = np.array([place[row["proverb_id"]] for row in rows], dtype=np.int64)
    comparable = usable(of_scenario) & usable(of_proverb)[owner]
    pairs = _pairs_with_others(of_proverb, of_scenario[comparable], owner[comparable])
    calibration = _frozen_cap(base) if base else _cap(pairs, params)
    cap = calibration["cap"]
    proverb_facts = {
        row["proverb_id"]: language.analyse(row["text"])
        for row in (seeds[i] for i in np.unique(owner).tolist())
    }
    outcome: dict[int, tuple[str, Numbers]] = {}
    content: dict[int, list[str]] = {}
    kept_of: dict[str, list[_Kept]] = defaultdict(list)
    for i in sorted(range(len(rows)), key=lambda i: str(rows[i]["scenario_id"])):
        row = rows[i]
        facts = language.analyse(row["text"], params.script_share)
        similarity = float(of_scenario[i] @ of_proverb[owner[i]]) if comparable[i] else None
        numbers: Numbers = {
            "words": facts.word_count,
            "script_share": facts.verdict.script_share,
            "verdict": facts.verdict.verdict,
            "overlap": facts.overlap_with(proverb_facts[row["proverb_id"]]),
            "similarity": similarity,
            "similarity_cap": cap,
        }
        content[i] = sorted(facts.content)
        reason = _reason(numbers, params)
        candidate = _Kept(row["scenario_id"], facts.key, of_scenario[i], cut[i])
        if not reason:
            twin = candidate.nearest(kept_of[row["proverb_id"]])
            if twin and twin["likeness"] > params.near_duplicate:
                reason = "near_duplicate"
                numbers |= {**twin, "at_most": params.near_duplicate}
            else:
                kept_of[row["proverb_id"]].append(candidate)
        outcome[i] = reason, numbers
    kept = [
        {**row, **outcome[i][1], "content_words": content[i]}
        for i, row in enumerate(rows)
        if not outcome[i][0]
    ]
    rejected = [
        Rejection(row["scenario_id"], outcome[i][0], {"text": row["text"], **outcome[i][1]})
        for i, row in enumerate(rows)
        if outcome[i][0]
    ]
    facts_out = {
        "similarity_cap": calibration,
        "distributions": {"proverb_scenario": distribution(pairs, cap)},
        "longer_than_embedder_window": sum(cut),
    }
    return StageResult(kept, rejected, len(rows), facts_out)


class _Kept:
    """A scenario that passed, as later ones of its proverb are compared with it."""

    def __init__(self, scenario_id: str, key: str, vector: Vectors, cut: bool) -> None:
        self.scenario_id, self.key, self.vector, self.cut = scenario_id, key, vector, cut

    def nearest(self, others: Sequence[_Kept]) -> Numbers | None:
        """The most alike of the others and how alike it is, None without others."""
        found = max(others, key=self._likeness, default=None)
        return {"of": found.scenario_id, "likeness": self._likeness(found)} if found else None

    def _likeness(self, other: _Kept) -> float:
        if self.key == other.key:
            return 1.0
        # Past the window texts may differ, which their vectors would not show.
        return 0.0 if self.cut or other.cut else float(self.vector @ other.vector)


def _frozen_cap(base: Base) -> dict[str, Any]:
    return {"cap": base.caps.scenario, "how": f"frozen with base {base.version}"}


def _cap(pairs: Similarities, params: FilterParams) -> dict[str, Any]:
    if params.similarity_cap == "fixed":
        return {"cap": PAPER_CAP, "how": "fixed"}
    return {"how": "calibrated", **asdict(calibrated_cap(pairs))}


def _pairs_with_others(proverbs: Vectors, scenarios: Vectors, owner: npt.NDArray[np.int64]) -> Similarities:
    """Each scenario with every usable proverb but its own."""
    sound = usable(proverbs)
    # Rows of the usable proverbs, numbered anew.
    return cross_pairs(proverbs[sound], scenarios, (np.cumsum(sound) - 1)[owner])


def _reason(measured: Numbers, params: FilterParams) -> str:
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
    if measured["similarity"] is None:
        return NO_EMBEDDING
    return "too_similar" if measured["similarity"] > measured["similarity_cap"] else ""
