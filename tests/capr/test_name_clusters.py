from __future__ import annotations

from pipeline.capr.name_clusters import NameClustersParams, name_clusters
from pipeline.llm.interface import Ask
from tests.capr.kit import FunctionChat, clusters, prompt, reasons, shuffled

TABLE = clusters(1, 0, 1, 1, 0, themes=["haste", "calm", "rush", "haste", "rest"])


def test_the_model_sees_member_labels_the_commonest_first() -> None:
    chat = FunctionChat(lambda ask: {"name": "Speed and Rest"})
    result = name_clusters(TABLE, chat, prompt("name_clusters"), NameClustersParams(), None)
    assert [ask.row_id for ask in chat.asked] == ["cluster-0", "cluster-1"]
    assert chat.asked[1].messages[-1].content == 'Labels:\n- "haste"\n- "rush"'
    assert result.rows[1] == {
        "cluster_id": 1,
        "name": "Speed and Rest",
        "proverbs": 3,
        "labels": ["haste", "rush"],
    }


def test_a_bound_on_the_labels_shown_keeps_the_commonest() -> None:
    chat = FunctionChat(lambda ask: {"name": "Speed"})
    name_clusters(TABLE, chat, prompt("name_clusters"), NameClustersParams(most_labels=1), None)
    assert chat.asked[1].messages[-1].content == 'Labels:\n- "haste"'


def test_without_a_bound_every_label_is_shown() -> None:
    chat = FunctionChat(lambda ask: {"name": "Speed"})
    table = clusters(*[0] * 50, themes=[f"theme {number}" for number in range(50)])
    name_clusters(table, chat, prompt("name_clusters"), NameClustersParams(most_labels=None), None)
    assert chat.asked[0].messages[-1].content.count("\n- ") == 50


def test_a_copied_name_is_a_rejection_and_the_cluster_stays_unnamed() -> None:
    def reply(ask: Ask) -> dict[str, str]:
        return {"name": "Time and Patience" if ask.row_id == "cluster-0" else "Speed"}

    given = TABLE, FunctionChat(reply), prompt("name_clusters")
    result = name_clusters(*given, NameClustersParams(reject_copies=True), None)
    assert reasons(result) == {"cluster-0": "reply_invalid"}
    assert result.rejected[0].numbers == {"why": "'Time and Patience' is copied from the prompt"}
    assert ([row["cluster_id"] for row in result.rows], result.expected) == ([1], 2)
    # For a large model it may be the right name.
    assert name_clusters(*given, NameClustersParams(), None).rejected == []


def test_row_order_decides_nothing() -> None:
    chat = FunctionChat(lambda ask: {"name": "Speed"})
    straight = name_clusters(TABLE, chat, prompt("name_clusters"), NameClustersParams(), None)
    mixed = name_clusters(shuffled(TABLE), chat, prompt("name_clusters"), NameClustersParams(), None)
    assert straight == mixed
