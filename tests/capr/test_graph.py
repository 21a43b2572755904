from __future__ import annotations

from pathlib import Path

from pipeline.capr import graph
from pipeline.capr.runner import _GIVEN
from pipeline.profile import CaprParams
from pipeline.store.catalog import SCHEMAS
from pipeline.store.code import reached_modules


def test_a_stage_has_one_name_everywhere(project: Path) -> None:
    assert list(graph.STAGES) == list(SCHEMAS) == list(CaprParams.model_fields) == list(graph.LIBRARIES)
    for name, function in graph.STAGES.items():
        assert (function.__name__, function.__module__) == (name, f"pipeline.capr.{name}")
    assert {f.stem for f in (project / "prompts" / "capr").glob("*.md")} == set(graph.PROMPTS)


def test_every_parameter_of_a_stage_is_known() -> None:
    for name in graph.STAGES:
        assert set(graph.parameters(name)) <= {*graph.TABLES, *_GIVEN}, name


def test_a_stage_reads_earlier_stages_only() -> None:
    order = list(graph.STAGES)
    for name in order:
        assert all(order.index(source) < order.index(name) for source in graph.inputs(name).values())


def test_stages_reach_no_backend(project: Path) -> None:
    for function in graph.STAGES.values():
        reached = reached_modules(function.__module__, project)
        assert [m for m in reached if m.startswith("pipeline.llm.")] in ([], ["pipeline.llm.interface"])
        assert [m for m in reached if m.startswith("pipeline.embed.")] in ([], ["pipeline.embed.interface"])
