"""The similarity caps of a language under an embedder, made by the very stages that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.capr.acquire import usable
from pipeline.capr.calibration import BIN, PAPER_CAP
from pipeline.capr.distractors import choose_options
from pipeline.capr.filter import filter
from pipeline.embed.interface import Embedder
from pipeline.language.language import Language
from pipeline.profile import Profile
from pipeline.store.catalog import SCHEMAS
from pipeline.store.tables import kept_table


@dataclass(frozen=True)
class Calibration:
    """One kind of pair: the cap as calibrated and the one in force under the profile (None: not compared).

    ``quantile`` is None below 200 pairs, ``median`` without any. ``thinned`` n: every n-th row was compared.
    ``counts`` are pairs in bins of 0.01 above ``low``; a bin holds its upper end.
    """

    kind: str
    pairs: int
    thinned: int
    median: float | None
    quantile: float | None
    above_paper_cap: int
    calibrated: float
    in_force: float | None
    low: float
    counts: Sequence[int]


def calibrate(
    seeds: Sequence[Mapping[str, str]],
    scenarios: pa.Table,
    language: Language,
    embedder: Embedder,
    profile: Profile,
) -> list[Calibration]:
    """Proverb-proverb and meaning-meaning pairs of all usable seeds, whatever the limits; and every scenario
    of a build with the proverbs that are not its own. No language model is asked.

    The stages `distractors` and `filter` are called as a build without a base calls them, once with the
    profile's settings and once calibrated: a cap here is the cap there. Scenarios of proverbs that are gone
    are left out.
    """
    rows, _ = usable(seeds, language, profile.capr.acquire)
    proverbs = kept_table("acquire", rows)
    known = set(proverbs["proverb_id"].to_pylist())
    scenarios = scenarios.filter(
        pa.array([i in known for i in scenarios["proverb_id"].to_pylist()], pa.bool_())
    )
    of_options = profile.capr.distractors
    of_filter = profile.capr.filter
    nothing = SCHEMAS["cluster"].empty_table()
    options = {
        how: choose_options([], proverbs, nothing, embedder, profile.run_seed, params, None)
        for how, params in {
            "in_force": of_options,
            "calibrated": of_options.model_copy(update={"similarity_cap": "calibrated", "meaning_cap": True}),
        }.items()
    }
    filtered = {
        how: filter(scenarios, proverbs, language, embedder, params, None).facts
        for how, params in {
            "in_force": of_filter,
            "calibrated": of_filter.model_copy(update={"similarity_cap": "calibrated"}),
        }.items()
    }
    found = [
        _calibration(
            kind,
            options["calibrated"].calibration[name],
            options["in_force"].calibration[name],
            options["calibrated"].distributions[kind],
        )
        for kind, name in (("proverb_proverb", "proverb_cap"), ("meaning_meaning", "meaning_cap"))
    ]
    of_scenarios = _calibration(
        "proverb_scenario",
        filtered["calibrated"]["similarity_cap"],
        filtered["in_force"]["similarity_cap"],
        filtered["calibrated"]["distributions"]["proverb_scenario"],
    )
    return [*found, of_scenarios]


def _calibration(
    kind: str,
    calibrated: Mapping[str, Any],
    in_force: Mapping[str, Any] | None,
    distribution: Mapping[str, Any],
) -> Calibration:
    low, counts = distribution["low"], distribution["counts"]
    # A bin ends at 0.85, so the pairs above it are whole bins.
    above = [count for at, count in enumerate(counts) if low + at * BIN >= PAPER_CAP - BIN / 2]
    return Calibration(
        kind=kind,
        pairs=calibrated["pairs"],
        thinned=calibrated["thinned"],
        median=distribution["median"],
        quantile=calibrated["quantile"],
        above_paper_cap=sum(above),
        calibrated=calibrated["cap"],
        in_force=in_force["cap"] if in_force else None,
        low=low,
        counts=counts,
    )
