"""Gates for shortcuts in a run's manifest, and `--strict`, which refuses a failure and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flows.runs import Summary, refuse_failures
from pipeline.errors import GateError
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    with ScriptedServer() as server:
        root = make_root(tmp_path_factory.mktemp("root"), server.address)
        return build(root)[2]


def test_the_manifest_holds_every_gate(summary: Summary) -> None:
    gates = {gate["baseline"]: gate for gate in summary.manifest["shortcuts"]}
    assert list(gates) == [
        "position",
        "longest_option",
        "shortest_option",
        "medoid_option",
        "commonest_option",
        "rarest_option",
        "nearest_embedding",
        "word_overlap",
        "new_option",
    ]
    for gate in gates.values():
        assert 0 <= gate["low"] <= gate["accuracy"] <= gate["high"] <= 1
    # Twelve proverbs cannot prove that their places are fair, though they are dealt evenly.
    assert gates["position"]["verdict"] == "undecided"
    assert gates["position"]["items"] == summary.manifest["items"]
    assert gates["new_option"]["verdict"] is None


@pytest.mark.parametrize("ruling", ["pass", "undecided", None])
def test_what_did_not_fail_is_not_refused(summary: Summary, ruling: str | None) -> None:
    ruled = _ruled(summary, ruling)
    assert {gate["verdict"] for gate in ruled.manifest["shortcuts"]} >= {ruling}
    refuse_failures(ruled)  # raises for a failure


def test_a_failure_is_one_paragraph_with_the_numbers_and_a_way_on(summary: Summary) -> None:
    with pytest.raises(GateError) as caught:
        refuse_failures(_ruled(summary, "fail"))
    said = str(caught.value)
    assert "\n" not in said
    gate = next(g for g in summary.manifest["shortcuts"] if g["baseline"] == "medoid_option")
    share, low, high = (f"{gate[name]:.0%}" for name in ("accuracy", "low", "high"))
    assert f"medoid_option {share}, interval {low} to {high}; at most 30% is allowed" in said
    assert str(summary.report) in said
    assert "capr.distractors.rule" in said
    assert caught.value.exit_code == 7


def _ruled(summary: Summary, ruling: str | None) -> Summary:
    """The run, had the gate of the medoid ruled so."""
    gates = [
        {
            **gate,
            "verdict": ruling if gate["baseline"] == "medoid_option" else gate["verdict"] and "undecided",
        }
        for gate in summary.manifest["shortcuts"]
    ]
    return replace(summary, manifest={**summary.manifest, "shortcuts": gates})


def test_the_terminal_counts_the_gates(summary: Summary, tmp_path: Path) -> None:
    from flows.screen import run_lines

    lines = run_lines(_ruled(summary, "fail"))
    assert "gates for shortcuts: 0 pass, 5 undecided, 1 fail" in lines
    assert any(line.startswith("shortcut: medoid_option ") for line in lines)
