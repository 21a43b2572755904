from __future__ import annotations

from typing import Any

from pipeline.store.key_changes import Change, key_changes


def _parts(**changed: Any) -> dict[str, Any]:
    given = {
        "params": {"limit": 12, "least": 8},
        "chat": ['abc {"temperature":0.7,"max_tokens":400}', 1],
        "judges": [["a", "", 'abc {"temperature":0.3}', 1], ["b", "strict", "def", 1]],
        "prompt": "p1",
    }
    return {
        "stage": "judge",
        "inputs": {"items": "d1"},
        "given": {**given, **changed},
        "code": "c1",
        "libraries": {"jinja2": "3"},
    }


def test_nothing_changed() -> None:
    assert key_changes(_parts(), _parts()) == []


def test_every_level_is_named() -> None:
    new = _parts(
        params={"limit": None, "least": 8, "more": True},
        chat=['abd {"temperature":0.7,"max_tokens":500}', 2],
        judges=[["b", "mild", "def", 1], ["c", "", "abc", 1]],
    )
    del new["given"]["prompt"]
    new |= {"inputs": {"items": "d2"}, "libraries": {"jinja2": "4"}}
    assert key_changes(_parts(), new) == [
        Change("params.limit", 12, None),
        Change("params.more", None, True),
        Change("chat.model", "abc", "abd"),
        Change("chat.model.max_tokens", 400, 500),
        Change("chat.run_seed", 1, 2),
        Change("judges.b.stance", "strict", "mild"),
        Change("judges.c.stance", None, ""),
        Change("judges.c.model", None, "abc"),
        Change("judges.c.run_seed", None, 1),
        Change("inputs.items", "d1", "d2"),
        Change("libraries.jinja2", "3", "4"),
        Change("judges.a.stance", "", None),
        Change("judges.a.model", "abc", None),
        Change("judges.a.model.temperature", 0.3, None),
        Change("judges.a.run_seed", 1, None),
        Change("prompt", "p1", None),
    ]


def test_text_that_looks_like_an_identity_but_is_none() -> None:
    new = _parts(judges=[["a", "be {kind}", "abc", 1]])
    assert Change("judges.a.stance", "", "be {kind}") in key_changes(_parts(), new)
