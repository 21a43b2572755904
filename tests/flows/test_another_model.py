"""A build that was stopped and goes on with another model, in every role, reuses nothing of the first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.errors import CallLimitReached
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.mark.parametrize(
    ("protocol", "other"),
    [
        ("ollama", {"model": "judge-a"}),
        ("openai", {"model": "judge-a"}),
        # The name is the same, what stands behind it is not.
        ("openai", {"revision": "2"}),
    ],
)
def test_nothing_of_the_first_model_is_reused(
    server: ScriptedServer, tmp_path: Path, protocol: str, other: dict[str, Any]
) -> None:
    root = make_root(tmp_path, server.address, protocol=protocol)
    with pytest.raises(CallLimitReached):
        build(root, max_calls=60)
    first = len(server.chats)
    file = root / "profiles" / "test.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    profile["models"]["m"] |= other
    file.write_text(yaml.safe_dump(profile), encoding="utf-8")
    stages, calls, _ = build(root)
    # What no model has a part in may be: the scripted replies, so the tables, are the same to the letter.
    assert not any(stages[name].cached for name in ("label", "name_clusters", "scenarios", "judge"))
    assert calls["reused"] == 0
    later = [call.body["model"] for call in server.chats[first:]]
    assert later == [other.get("model", "scripted")] * calls["made"]
    assert len(later) > 130
