from __future__ import annotations

from typing import Any

import pytest

from pipeline.capr.domains import DOMAINS
from pipeline.capr.scenarios import ScenarioParams, scenarios
from pipeline.llm.interface import Status
from pipeline.store.result import StageResult
from tests.capr.kit import PROJECT, FunctionChat, labels, language, prompt, proverbs, reasons, shuffled

GOOD = "Maria copied the figures twice before the meeting and found that one column was wrong."
TEXTS = ("Haste makes waste", "Time flies", "Look before you leap")


def _run(chat: FunctionChat, code: str = "en", labelled: int = 3, **params: Any) -> StageResult:
    return scenarios(
        proverbs(*TEXTS),
        labels("a", "b", "c").slice(0, labelled),
        language(code),
        chat,
        prompt("scenarios"),
        ScenarioParams(**params),
    )


def test_the_papers_ten_domains_in_its_order() -> None:
    assert list(DOMAINS) == [
        "workplace",
        "family",
        "neighbors",
        "friendship",
        "commerce",
        "education",
        "politics",
        "travel",
        "sports",
        "technology",
    ]


def test_one_call_a_proverb_and_domain() -> None:
    chat = FunctionChat(lambda ask: {"scenario": GOOD})
    result = _run(chat)
    assert [ask.row_id for ask in chat.asked] == [f"p{i}.{slot}" for i in range(3) for slot in DOMAINS]
    assert (result.expected, len(result.rows)) == (30, 30)
    assert result.rows[1] == {
        "scenario_id": "p0.family",
        "proverb_id": "p0",
        "domain": "family",
        "text": GOOD,
    }
    last = chat.asked[11].messages[-1].content
    assert last == (
        'Proverb: "Time flies"\nMeaning: "meaning of Time flies"\nDomain: "family life"\nLanguage: "English"'
    )


def test_a_proverb_without_a_label_gets_no_call() -> None:
    chat = FunctionChat(lambda ask: {"scenario": GOOD})
    result = _run(chat, labelled=2, domains=2)
    assert [ask.row_id for ask in chat.asked] == ["p0.workplace", "p0.family", "p1.workplace", "p1.family"]
    assert result.expected == 4


def test_the_prompt_states_the_papers_six_constraints_and_its_ethics() -> None:
    [system] = [part for role, part in prompt("scenarios").parts if role == "system"]
    for constraint in (
        "1. Concrete",
        "2. Analogy, never paraphrase",
        "3. Separate words",
        "4. Domain",
        "5. Language",
        "6. Format: answer with JSON only",
        "everyday modern life",
        "Nothing graphic or violent",
    ):
        assert constraint in system


@pytest.mark.parametrize("code", sorted(p.parent.name for p in (PROJECT / "seeds").glob("*/proverbs.csv")))
def test_one_template_serves_every_language(code: str) -> None:
    chat = FunctionChat(lambda ask: Status.REFUSED)
    _run(chat, code, domains=1)
    last = chat.asked[0].messages[-1].content
    assert last.endswith(f'Language: "{language(code).name}"')
    english = FunctionChat(lambda ask: Status.REFUSED)
    _run(english, domains=1)
    assert chat.asked[0].messages[:-1] == english.asked[0].messages[:-1]
    assert last.rsplit(":", 1)[0] == english.asked[0].messages[-1].content.rsplit(":", 1)[0]


def test_labels_never_reach_the_prompt() -> None:
    chat = FunctionChat(lambda ask: {"scenario": GOOD})
    scenarios(
        proverbs(*TEXTS),
        labels("zzlabelzz", "zzlabelzz", "zzlabelzz"),
        language(),
        chat,
        prompt("scenarios"),
        ScenarioParams(),
    )
    assert not any("zzlabelzz" in message.content for ask in chat.asked for message in ask.messages)


def test_what_is_no_scenario_is_rejected_under_its_flaw_with_its_numbers() -> None:
    example = prompt("scenarios").front.examples[0]
    replies: dict[str, Any] = {
        "p0.workplace": {"scenario": example},
        "p0.family": {"scenario": "He waited and waited and waited and waited and waited and waited."},
        "p1.workplace": {"scenario": "- Anna paid the whole bill\n- Omar closed the old shop"},
        "p1.family": "Here is a scenario",
        "p2.workplace": Status.SERVER_ERROR,
        "p2.family": {"scenario": f"  {GOOD}\n "},
    }
    result = _run(FunctionChat(lambda ask: replies[ask.row_id]), domains=2)
    assert reasons(result) == {
        "p0.workplace": "copied_example",
        "p0.family": "loop",
        "p1.workplace": "list",
        "p1.family": "reply_invalid",
        "p2.workplace": "reply_server_error",
    }
    numbers = {r.row_id: dict(r.numbers) for r in result.rejected}
    assert numbers["p0.workplace"] == {"share": 1.0, "at_most": 0.3}
    assert numbers["p0.family"]["share"] > numbers["p0.family"]["at_most"] == 0.35
    assert numbers["p1.workplace"] == {"entries": 2, "at_most": 1}
    assert example in result.rejected[0].raw
    assert [row["text"] for row in result.rows] == [GOOD]
    assert (result.expected, result.lasting) == (6, False)


def test_copies_of_the_examples_proverb_and_meaning_are_copies_too() -> None:
    meaning = "When too many people share one task without a plan, the result is poor."
    result = _run(FunctionChat(lambda ask: {"scenario": meaning}), domains=1)
    assert set(reasons(result).values()) == {"copied_example"}


def test_row_order_changes_nothing_but_order() -> None:
    def run(table: Any) -> list[dict[str, Any]]:
        chat = FunctionChat(lambda ask: {"scenario": f"{GOOD} {ask.row_id}"})
        given = labels("a", "b", "c"), language(), chat, prompt("scenarios"), ScenarioParams(domains=2)
        return scenarios(table, *given).rows

    straight, mixed = run(proverbs(*TEXTS)), run(shuffled(proverbs(*TEXTS)))
    by_id = sorted(mixed, key=lambda row: str(row["scenario_id"]))
    assert sorted(straight, key=lambda row: str(row["scenario_id"])) == by_id
