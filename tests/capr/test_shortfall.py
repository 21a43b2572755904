from __future__ import annotations

from typing import Any

from pipeline.capr.shortfall import shortfall


def _stages(in_base: int = 0, **reasons: dict[str, int]) -> list[dict[str, Any]]:
    facts: dict[str, dict[str, Any]] = {
        "acquire": {"selected": 12, "in_base": in_base},
        "scenarios": {"domains": ["workplace", "family", "neighbors"]},
    }
    names = ("acquire", "label", "cluster", "scenarios", "filter", "distractors", "judge", "curate")
    return [{"name": n, "facts": facts.get(n, {}), "reasons": reasons.get(n, {})} for n in names]


def test_nothing_lost_nothing_said() -> None:
    assert shortfall(_stages(acquire={"duplicate": 2}, curate={"proverb_removed": 3})) == ""


def test_every_loss_with_its_reasons() -> None:
    said = shortfall(
        _stages(
            label={"reply_invalid": 2},
            scenarios={"loop": 3, "list": 1},
            filter={"too_short": 2, "overlap": 5},
            distractors={"no_same_cluster_candidate": 6},
            curate={"flagged": 4},
        )
    )
    assert said == (
        "9 of 36 possible items made: 6 for want of a theme label (reply_invalid 2), 4 for want of a "
        "scenario (loop 3, list 1), 7 filtered out (overlap 5, too_short 2), 6 for want of distractors "
        "(no_same_cluster_candidate 6), 4 left out as flagged (flagged 4)"
    )


def test_no_item_at_all_and_old_proverbs_do_not_count() -> None:
    said = shortfall(_stages(in_base=10, filter={"wrong_script": 6}))
    assert said == "none of 6 possible items made: 6 filtered out (wrong_script 6)"
