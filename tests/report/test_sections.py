"""The numbers of the report's sections, by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pipeline.capr.agreement import agreement
from pipeline.report.overview import models
from pipeline.report.ratings import Flag, flags, rubrics
from pipeline.report.rows import Reason, stage_rows
from pipeline.report.similarity import distributions
from pipeline.store.catalog import SCHEMAS


def _judged(item: str, judge: str, *scores: int) -> dict[str, Any]:
    ratings = dict(zip(("faithfulness", "naturalness", "distractors"), scores, strict=True)) if scores else {}
    row = {"item_id": item, "judge": judge, "status": "ok" if scores else "invalid", **ratings}
    return {name: row.get(name) for name in SCHEMAS["judge"].names}


def test_scores_are_counted_and_invalid_ones_apart() -> None:
    rows = [
        _judged("i1", "a", 4, 5, 3),
        _judged("i1", "b", 5, 5, 2),
        _judged("i1", "c", 1, 5, 3),
        _judged("i2", "a", 4, 2, 3),
        _judged("i2", "b"),
        _judged("i2", "c", 3, 4, 1),
    ]
    faith, natural, options = rubrics(pa.Table.from_pylist(rows, schema=SCHEMAS["judge"]), agreement(rows))
    assert [scores.judge for scores in faith.judges] == ["a", "b", "c"]
    assert faith.judges[0].counts == [0, 0, 0, 2, 0]
    assert faith.judges[0].mean == 4.0
    assert (faith.judges[1].counts, faith.judges[1].invalid, faith.judges[1].mean) == (
        [0, 0, 0, 0, 1],
        1,
        5.0,
    )
    # Two of three judges must find an item acceptable: i1 does on all rubrics, i2 on none (an invalid
    # answer accepts nothing).
    assert [rubric.agreement["pass_rate"] for rubric in (faith, natural, options)] == [0.5, 0.5, 0.5]
    assert options.agreement["acceptable_from"] == 3


def test_without_judgements_there_are_no_scores() -> None:
    found = rubrics(SCHEMAS["judge"].empty_table(), agreement([]))
    assert [(rubric.judges, rubric.agreement["pass_rate"]) for rubric in found] == [([], None)] * 3


def test_flags_and_their_reasons() -> None:
    def item(reasons: list[str], *, ambiguous: bool = False) -> dict[str, Any]:
        return {
            "flag_paper": bool(reasons),
            "flag_reasons": reasons,
            "ambiguous": ambiguous,
            "invalid": "no_valid_judge" in reasons,
        }

    items = [
        item([], ambiguous=True),
        item(["naturalness_mean", "naturalness_spread"]),
        item(["no_valid_judge"]),
    ]
    found = flags(items)
    assert [(flag.name, flag.items, flag.part_of) for flag in found] == [
        ("flag_paper", 2, False),
        ("naturalness_mean", 1, True),
        ("naturalness_spread", 1, True),
        ("no_valid_judge", 1, True),
        ("ambiguous", 1, False),
        ("invalid", 1, False),
    ]
    assert found[1] == Flag("naturalness_mean", "mean naturalness below 3", 1, part_of=True)


def _facts(cap: dict[str, Any] | None, above: int | None = 2) -> dict[str, Any]:
    found = {"pairs": 400, "median": 0.843, "above_cap": above, "low": 0.83, "counts": [100, 298, 2]}
    return {
        "distractors": {
            "caps": {"proverb_cap": {"cap": 0.85, "quantile": 0.84}, "meaning_cap": cap},
            "distributions": {"proverb_proverb": found, "meaning_meaning": found},
        },
        "filter": {
            "similarity_cap": {"cap": 0.85, "how": "fixed"},
            "distributions": {"proverb_scenario": found},
        },
    }


@pytest.mark.parametrize(
    ("cap", "said"),
    [
        ({"cap": 0.9146, "quantile": 0.9146, "pairs": 400}, "the 99.5% quantile"),
        ({"cap": 0.85, "quantile": 0.84, "pairs": 400}, "the paper's; the 99.5% quantile is lower"),
        ({"cap": 0.85, "quantile": None, "pairs": 190}, "the paper's"),
        ({"cap": 0.9, "how": "frozen with base 1.0.0"}, "frozen with base 1.0.0"),
    ],
)
def test_a_cap_says_where_it_is_from(cap: dict[str, Any], said: str) -> None:
    assert distributions(_facts(cap))[1].how == said


def test_a_distribution_is_read_in_bins_and_steps() -> None:
    first, meaning, last = distributions(_facts(None, None))
    assert first.bins == [(0.83, 0.84, 100), (0.84, 0.85, 298), (0.85, 0.86, 2)]
    assert first.steps == [(0.80, 0.85, 398), (0.85, 0.90, 2)]
    assert (meaning.cap, meaning.how, meaning.above_share) == (None, "not compared in this run", None)
    assert last.how == "the paper's"


def test_rows_say_why_and_how_they_were_made() -> None:
    stage = {"rows_expected": 10, "rows_kept": 8, "rows_rejected": 2, "cached": False, "calls": {}}
    made, reused, plain = stage_rows(
        {
            "stages": [
                {
                    "name": "label",
                    **stage,
                    "reasons": {"reply_empty": 2},
                    "calls": {"made": 1200, "reused": 3},
                },
                {"name": "filter", **stage, "reasons": {"later_reason": 2}, "cached": True},
                {"name": "curate", **stage, "rows_expected": 0, "rows_kept": 0, "reasons": {}},
            ]
        }
    )
    assert (made.kept_share, made.calls) == (0.8, "1,200")
    assert made.reasons == [Reason("reply_empty", "every reply was empty", 2)]
    assert (reused.calls, reused.reasons[0].words) == ("reused", "later reason")
    assert (plain.calls, plain.kept_share) == ("–", 0.0)


def test_a_digest_is_cut_and_a_revision_is_not() -> None:
    def model(identity: str) -> dict[str, Any]:
        return {
            "model": "m",
            "server": ["ollama 0.17.4", "ollama 0.18.0"],
            "identity": identity,
            "options": {"temperature": 1.0},
            "calls": {"made": 1, "reused": 0},
        }

    found = models(
        {
            "models": {
                "label": model("ollama:" + "0123456789abcdef" * 4),
                "scenarios": model("gpt-oss-120b@2"),
            },
            "embedder": {"name": "e", "identity": "sha256:" + "f" * 64},
        }
    )
    assert [m.identity for m in found] == ["ollama:0123456789ab", "gpt-oss-120b@2", "sha256:ffffffffffff"]
    assert [m.server for m in found] == ["ollama 0.17.4, ollama 0.18.0"] * 2 + [""]
    assert [m.temperature for m in found] == ["1", "1", ""]
