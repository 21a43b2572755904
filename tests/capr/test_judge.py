from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pipeline.capr.judge import Judge, judge
from pipeline.llm.interface import Ask, Status
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table
from tests.capr.kit import FunctionChat, language, prompt, proverbs, shuffled

SEEDS = proverbs("Haste makes waste", "Time flies", "Look before you leap", "Still waters run deep")
GOOD = {"faithfulness": 4, "naturalness": 5, "distractors": 3, "fits": [1, 5, 2, 1]}


def _items(count: int) -> pa.Table:
    texts = SEEDS["text"].to_pylist()
    rows = [
        {
            "item_id": f"item-{i}",
            "item_digest": f"digest-{i}",
            "scenario_id": f"p1.{i}",
            "proverb_id": "p1",
            "domain": "family",
            "scenario": f"Scenario {i}",
            "options": texts,
            "option_ids": ["p0", "p1", "p2", "p3"],
            "roles": ["same_cluster", "key", "near_match", "random_cluster"],
            "similarities": [0.0, 1.0, 0.0, 0.0],
            "meaning_similarities": [0.0, 1.0, 0.0, 0.0],
            "scenario_similarities": [0.0, 0.0, 0.0, 0.0],
            "scenario_overlaps": [0.0, 0.0, 0.0, 0.0],
            "answer": 1,
            "medoid_rank": 0,
        }
        for i in range(count)
    ]
    return kept_table("distractors", rows)


def _run(reply: Callable[[Ask], Any], items: int = 2) -> tuple[StageResult, list[FunctionChat], list[str]]:
    log: list[str] = []
    chats = [FunctionChat(reply, f"model-{i}", log) for i in range(3)]
    seats = [Judge(f"judge-{i}", chat, "Be strict." if i else "") for i, chat in enumerate(chats)]
    return judge(_items(items), SEEDS, language(), seats, prompt("judge")), chats, log


def test_one_call_a_judge_and_item_judge_by_judge() -> None:
    result, _, log = _run(lambda ask: GOOD)
    assert log == [f"item-{i}@judge-{j}" for j in range(3) for i in range(2)]
    assert result.expected == len(result.rows) == 6
    assert result.rows[0] == {
        "item_id": "item-0",
        "item_digest": "digest-0",
        "judge": "judge-0",
        "model": "model-0",
        "status": "ok",
        "why": "",
        **GOOD,
    }


def test_a_judge_sees_scenario_options_with_meanings_and_key() -> None:
    _, chats, _ = _run(lambda ask: GOOD, items=1)
    [ask] = chats[0].asked
    assert ask.messages[-1].content == (
        'Language: "English"\nScenario: "Scenario 0"\n'
        '"A": "Haste makes waste" (meaning: "meaning of Haste makes waste")\n'
        '"B": "Time flies" (meaning: "meaning of Time flies")\n'
        '"C": "Look before you leap" (meaning: "meaning of Look before you leap")\n'
        '"D": "Still waters run deep" (meaning: "meaning of Still waters run deep")\n'
        'Key: "B"'
    )
    assert "How you judge" not in ask.messages[0].content
    assert 'How you judge: "Be strict."' in chats[1].asked[0].messages[0].content


def test_the_prompt_anchors_every_score_of_every_rubric() -> None:
    [system] = [part for role, part in prompt("judge").parts if role == "system"]
    for rubric in ("faithfulness:", "naturalness:", "distractors:", "fits:"):
        anchors = system.split(rubric, 1)[1].splitlines()[1]
        assert all(f"{score} = " in anchors for score in range(1, 6)), rubric
    assert prompt("judge").front.origin == "ours"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Status.TIMEOUT, "timeout: scripted"),
        ("I cannot evaluate this", "invalid: not JSON"),
        # Replies are JSON under the prompt's schema: no number is fished out of prose.
        ("5 reasons, score 4", "invalid: not JSON"),
        ({**GOOD, "faithfulness": 0}, "invalid: "),
        ({**GOOD, "faithfulness": 6}, "invalid: "),
        ({**GOOD, "faithfulness": 3.5}, "invalid: "),
        ({**GOOD, "fits": [1, 5, 2]}, "invalid: "),
        ({**GOOD, "fits": [1, 5, 2, 1, 1]}, "invalid: "),
        ({"faithfulness": 4}, "invalid: "),
    ],
)
def test_a_judge_that_cannot_answer_is_a_row_with_nulls(reply: Any, why: str) -> None:
    result, _, _ = _run(lambda ask: reply if ask.row_id == "item-0@judge-1" else GOOD)
    [lost] = [row for row in result.rows if row["status"] == "invalid"]
    assert (lost["judge"], lost["item_id"]) == ("judge-1", "item-0")
    assert lost["why"].startswith(why)
    assert all(lost[name] is None for name in ("faithfulness", "naturalness", "distractors", "fits"))
    assert (len(result.rows), result.rejected, result.expected) == (6, [], 6)
    assert result.facts["invalid_ratings"] == {"judge-1": 1}
    assert result.lasting is (reply is not Status.TIMEOUT)
    kept_table("judge", result.rows)


def test_a_whole_number_written_with_a_point_is_a_whole_number() -> None:
    pointed = {"faithfulness": 4.0, "naturalness": 5.0, "distractors": 3, "fits": [1.0, 5, 2, 1]}
    result, _, _ = _run(lambda ask: pointed)
    assert kept_table("judge", result.rows).to_pylist()[0].items() >= GOOD.items()


def test_agreement_stands_in_the_facts() -> None:
    result, _, _ = _run(lambda ask: GOOD)
    assert set(result.facts["agreement"]) == {"faithfulness", "naturalness", "distractors"}
    assert result.facts["agreement"]["faithfulness"]["raw_agreement"] == 1.0
    assert result.facts["agreement"]["faithfulness"]["why"]["alpha"] == "all 6 ratings are equal"


def test_no_items_no_calls() -> None:
    result, _, log = _run(lambda ask: GOOD, items=0)
    assert (result.rows, result.expected, log) == ([], 0, [])
    assert result.facts["agreement"]["naturalness"]["alpha"] is None


def test_row_order_changes_nothing_but_order() -> None:
    def run(items: pa.Table) -> StageResult:
        def reply(ask: Ask) -> Any:
            return {**GOOD, "faithfulness": 1 + len(ask.row_id) % 5}

        seats = [Judge(f"judge-{'x' * i}", FunctionChat(reply)) for i in range(3)]
        return judge(items, SEEDS, language(), seats, prompt("judge"))

    straight, mixed = run(_items(5)), run(shuffled(_items(5)))
    assert sorted(mixed.rows, key=str) == sorted(straight.rows, key=str)
    assert mixed.facts == straight.facts
