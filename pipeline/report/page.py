"""A finished run as one page: everything in it, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from markupsafe import Markup

from pipeline.html import html_templates
from pipeline.report import charts, overview
from pipeline.report.rows import stage_rows
from pipeline.report.samples import SAMPLES, samples
from pipeline.report.words import ROLES, STAGES, role_in_words

_TEMPLATES = Path(__file__).parent / "templates"


def page(manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    """The report of a run, as HTML text: from its manifest and the kept table of each of its stages.

    Every text of a person's or a model's is escaped, and characters that would reorder or hide text are
    shown as their code points.
    """
    rows = stage_rows(manifest)
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
        stage_words=STAGES,
        rows_chart=Markup(charts.rows_chart(rows)),
        samples=samples(tables, manifest["run_seed"]),
        most_samples=SAMPLES,
        roles=ROLES,
    )


def _number(value: float | None, digits: int = 2) -> str:
    """A number with so many digits, an en dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
