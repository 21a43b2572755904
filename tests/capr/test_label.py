from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.label import LabelParams, label, normalise
from pipeline.capr.themes import same_theme, theme_words
from pipeline.llm.interface import Status
from tests.capr.kit import FunctionChat, labels, prompt, proverbs, reasons, shuffled, unit


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Patience and Perseverance", "patience and perseverance"),
        ("  patience   &  perseverance. ", "patience and perseverance"),
        ("Patience & Perseverance", "patience and perseverance"),
        ("Self-Reliance", "self reliance"),
        ("one\u2019s own luck", "one's own luck"),
        ("'one's own luck'", "one's own luck"),
        ("ｐａｔｉｅｎｃｅ", "patience"),
        ("“betrayal: its consequences!”", "betrayal its consequences"),
        ("...", ""),
    ],
)
def test_one_spelling_of_a_label(raw: str, expected: str) -> None:
    assert normalise(raw) == expected


@given(st.text(max_size=40))
def test_normalising_again_changes_nothing(raw: str) -> None:
    assert normalise(normalise(raw)) == normalise(raw)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("patience and perseverance", "perseverance and patience", True),
        ("the value of patience", "value of patience", True),
        ("consequence of betrayal", "consequences of betrayal", True),
        ("words over deeds", "deeds over words", False),
        ("kindness", "kind", False),
        ("greed", "generosity", False),
        ("focus", "focu", False),
    ],
)
def test_near_duplicate_labels_are_one_theme(one: str, other: str, same: bool) -> None:
    assert (theme_words(one) == theme_words(other)) is same
    assert same_theme([one, other], unit([1, 0], [0, 1]), 0.999) == ([0, 0] if same else [0, 1])


def test_labels_at_one_point_are_one_theme_and_likeness_is_not_carried_on() -> None:
    vectors = unit([1, 0], [1, 0.02], [1, 0.04], [0, 1])
    assert same_theme(["a b", "c d", "e f", "g h"], vectors, 0.9997) == [0, 0, 2, 3]


def _said(theme: str) -> FunctionChat:
    return FunctionChat(lambda ask: {"theme": theme})


def test_one_label_a_selected_proverb_from_its_text_and_meaning() -> None:
    table = proverbs("Haste makes waste", "Time flies", "Late", selected=[True, True, False])
    chat = _said("Haste and-Speed")
    result = label(table, chat, prompt("label"), LabelParams())
    assert [ask.row_id for ask in chat.asked] == ["p0", "p1"]
    assert chat.asked[1].messages[-1].content == 'Proverb: "Time flies"\nMeaning: "meaning of Time flies"'
    assert result.rows[0] == {"proverb_id": "p0", "label": "haste and speed", "label_raw": "Haste and-Speed"}
    assert (result.expected, result.facts) == (2, {"distinct_labels": 1})


def test_what_is_no_label_is_rejected_with_its_reply() -> None:
    replies = {
        "p0": {"theme": "one two three four five six seven"},
        "p1": {"theme": "الصبر"},
        "p2": "no JSON",
        "p3": Status.TIMEOUT,
        "p4": {"theme": "haste and waste"},
    }
    table = proverbs("a", "b", "c", "d", "e")
    chat = FunctionChat(lambda ask: replies[ask.row_id])
    result = label(table, chat, prompt("label"), LabelParams(reject_copies=True))
    assert reasons(result) == {
        "p0": "reply_invalid",
        "p1": "reply_invalid",
        "p2": "reply_invalid",
        "p3": "reply_timeout",
        "p4": "reply_invalid",
    }
    why = {r.row_id: r.numbers["why"] for r in result.rejected}
    assert why["p0"] == "7 words, at most 6"
    assert why["p4"] == "'haste and waste' is copied from the prompt"
    assert result.rejected[2].raw == "no JSON"
    assert (result.rows, result.expected, result.lasting) == ([], 5, False)
    # A large model may rightly say what the prompt's example says.
    assert label(table, _said("haste and waste"), prompt("label"), LabelParams()).rejected == []


def test_row_order_changes_nothing_but_order() -> None:
    table = proverbs("a", "b", "c", "d")
    chat = FunctionChat(lambda ask: {"theme": f"theme {'xyzw'[int(ask.row_id[1])]}"})
    straight = label(table, chat, prompt("label"), LabelParams()).rows
    mixed = label(shuffled(table), chat, prompt("label"), LabelParams()).rows
    assert straight != mixed
    assert straight == sorted(mixed, key=lambda row: row["proverb_id"])
    assert labels("a").schema.names == list(straight[0])
