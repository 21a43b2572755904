"""Charts take people's names as they are."""

from __future__ import annotations

import warnings

from pipeline.report.charts import gates_chart


def test_a_name_is_neither_a_formula_nor_a_reason_to_warn() -> None:
    gate = {"baseline": "b", "accuracy": 0.5, "low": 0.2, "high": 0.8, "limit": 0.3, "verdict": "undecided"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in (r"cost $\frac$ x", "$a$", "日本語の名前", "የአማርኛ ስም"):
            assert name in gates_chart([gate], {"b": name}, 0.25)
