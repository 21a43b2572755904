"""Charts take people's names as they are."""

from __future__ import annotations

import re
import warnings

from pipeline.report.charts import gates_chart

GATE = {"baseline": "b", "accuracy": 0.5, "low": 0.2, "high": 0.8, "limit": 0.3, "verdict": "undecided"}


def test_a_name_is_neither_a_formula_nor_a_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in (r"cost $\frac$ x", "$a$", "日本語の名前", "የአማርኛ ስም"):
            assert name in gates_chart([GATE], {"b": name}, 0.25)


def test_a_mark_at_the_edge_is_drawn_whole() -> None:
    drawn = gates_chart([GATE | {"accuracy": 1.0, "high": 1.0}], {"b": "b"}, 0.25)
    assert "<use" in drawn
    assert not re.search(r"<g clip-path[^>]*>\s*<use", drawn)
