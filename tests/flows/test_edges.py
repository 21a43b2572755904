"""Builds at the edges: no item at all, labels all the same, too much memory, another model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from flows.screen import run_lines
from pipeline.errors import StageError
from tests.flows.small import build, make_root
from tests.servers.exchange import Asked
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _one_theme(asked: Asked) -> str | None:
    return json.dumps({"theme": "haste"}) if "theme" in json.dumps(asked.schema) else None


def test_a_build_without_any_item_ends_cleanly_and_says_why(server: ScriptedServer, tmp_path: Path) -> None:
    stages, _, summary = build(make_root(tmp_path, server.address, filter={"least_words": 119}))
    assert stages["filter"].reasons == {"too_short": 36}
    assert summary.as_json["items"] == 0
    assert stages["distractors"].expected == stages["judge"].expected == stages["judge"].calls["made"] == 0
    assert stages["judge"].facts["agreement"]["faithfulness"]["why"]["alpha"].endswith("has those of 0")
    lines = run_lines(summary)
    assert "0 items (train 0, validation 0, test 0); 0 flagged" in lines
    assert "none of 36 possible items made: 36 filtered out (too_short 36)" in lines
    assert summary.report.is_file()


def test_labels_all_the_same_stop_with_counts_and_their_replies_are_kept(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.responders.append(_one_theme)
    root = make_root(tmp_path, server.address)
    for calls in (12, 12):
        with pytest.raises(
            StageError, match="1 distinct theme labels for 12 proverbs, at least 4 are needed"
        ):
            build(root)
        # Asked once: the second build stops without a call.
        assert len(server.chats) == calls


def test_clustering_too_large_for_memory_is_refused_before_any_call(
    server: ScriptedServer, tmp_path: Path
) -> None:
    root = make_root(tmp_path, server.address, cluster={"memory_gib": 1e-6})
    with pytest.raises(StageError, match=r"clustering 12 labels needs about .*capr\.cluster\.memory_gib"):
        build(root)
    assert server.requests == []


def test_a_resumed_run_with_another_model_reuses_nothing_of_the_first(
    server: ScriptedServer, tmp_path: Path
) -> None:
    root = make_root(tmp_path, server.address)
    first, calls, _ = build(root)
    profile = root / "profiles" / "test.yaml"
    data = yaml.safe_load(profile.read_text(encoding="utf-8"))
    data["models"]["m"]["model"] = "judge-a"
    profile.write_text(yaml.safe_dump(data), encoding="utf-8")
    before = len(server.chats)
    second, again, _ = build(root)
    assert again["reused"] == 0
    assert again["made"] == len(server.chats) - before >= calls["made"] // 2
    assert {chat.body["model"] for chat in server.chats[before:]} == {"judge-a"}
    # What a model wrote is written anew; only where it comes out the same, as from this server, goes on.
    asked = ("label", "name_clusters", "scenarios", "judge")
    assert not any(second[name].cached or first[name].key == second[name].key for name in asked)
    # And back again: the first model's replies are all still there.
    data["models"]["m"]["model"] = "scripted"
    profile.write_text(yaml.safe_dump(data), encoding="utf-8")
    third, calls, _ = build(root)
    assert (calls, all(ref.cached for ref in third.values())) == ({"made": 0, "reused": 0}, True)
