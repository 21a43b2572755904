"""A finished run as one page: everything in it, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from pipeline.capr.shortcuts import CHANCE
from pipeline.capr.shortfall import shortfall
from pipeline.html import html_templates
from pipeline.report import charts, overview
from pipeline.report.ratings import SCORES, flags, rubrics
from pipeline.report.rows import stage_rows
from pipeline.report.samples import SAMPLES, samples
from pipeline.report.similarity import distributions
from pipeline.report.words import ROLES, SHORTCUTS, STAGES, role_in_words

_TEMPLATES = Path(__file__).parent / "templates"


def page(manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    """The report of a run, as HTML text: from its manifest and the kept table of each of its stages.

    Every text of a person's or a model's is escaped, and characters that would reorder or hide text are
    shown as their code points.
    """
    rows = stage_rows(manifest)
    facts = {stage["name"]: stage["facts"] for stage in manifest["stages"]}
    items = tables["curate"].to_pylist()
    similarities = distributions(facts)
    scores = rubrics(tables["judge"], facts["judge"]["agreement"])
    style, script = _asset("report.css"), _asset("report.js")
    environment = html_templates(_TEMPLATES)
    environment.filters["role"] = role_in_words
    environment.filters["number"] = _number
    return environment.get_template("report.html").render(
        run=manifest,
        language=manifest["language"],
        style=Markup(style),
        script=Markup(script),
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        models=overview.models(manifest),
        clusters=overview.clusters(tables),
        rows=rows,
        why_fewer=shortfall(manifest["stages"]),
        stage_words=STAGES,
        rows_chart=Markup(charts.rows_chart(rows)),
        clustering=facts["cluster"],
        silhouette_chart=_silhouettes(facts["cluster"]),
        similarities=similarities,
        similarity_charts={
            found.slug: Markup(charts.similarity_chart(found)) for found in similarities if found.pairs
        },
        rubrics=scores,
        score_range=SCORES,
        ratings_charts={
            rubric.name: Markup(charts.ratings_chart(rubric)) for rubric in scores if rubric.judges
        },
        flags=flags(items),
        gates=manifest["shortcuts"],
        gates_chart=_gates(manifest["shortcuts"]),
        shortcut_words=SHORTCUTS,
        chance=CHANCE,
        samples=samples(tables, manifest["run_seed"]),
        most_samples=SAMPLES,
        roles=ROLES,
    )


def _silhouettes(facts: Mapping[str, Any]) -> Markup | None:
    """None where nothing was searched: the clusters of a base dataset are frozen."""
    return Markup(charts.silhouette_chart(facts["silhouettes"], facts["k"])) if facts["silhouettes"] else None


def _gates(gates: Sequence[Mapping[str, Any]]) -> Markup | None:
    names = {slug: name for slug, (name, _) in SHORTCUTS.items()}
    return Markup(charts.gates_chart(gates, names, CHANCE)) if gates else None


def _number(value: float | None, digits: int = 2) -> str:
    """A number with so many digits, an en dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
