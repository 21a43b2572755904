"""The stages on a scripted server, keyed and cached as a real build does, without Prefect around them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.capr.graph import STAGES
from pipeline.store.stages import StageRef
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def _missed(stages: dict[str, StageRef]) -> list[str]:
    return [name for name, ref in stages.items() if not ref.cached]


def test_again_makes_no_call_and_reuses_every_stage(built: Path, server: ScriptedServer) -> None:
    before = len(server.chats)
    stages, calls, summary = build(built)
    assert _missed(dict(stages)) == []
    assert calls == {"made": 0, "reused": 0}
    assert len(server.chats) == before
    assert summary.as_json["calls"] == {"made": 0, "reused": 0}


def test_rows_are_conserved_and_items_are_sound(built: Path) -> None:
    stages, _, summary = build(built)
    for ref in stages.values():
        assert ref.expected == ref.kept + ref.rejected
        assert ref.table().num_rows == ref.kept
        assert sum(ref.reasons.values()) == ref.rejected
    items = stages["curate"].table().to_pylist()
    assert len(items) == summary.as_json["items"] > 0
    split_of: dict[str, set[str]] = {}
    for item in items:
        assert len(set(item["options"])) == 4
        assert item["option_ids"][item["answer"]] == item["proverb_id"]
        assert item["roles"][item["answer"]] == "key"
        assert Counter(item["roles"])["near_match"] == 1
        assert (item["meaning_from"], item["equivalent_en"]) == ("native", "")
        split_of.setdefault(item["proverb_id"], set()).add(item["split"])
    assert all(len(splits) == 1 for splits in split_of.values())
    assert sum(summary.as_json["splits"].values()) == len(items)
    saved = sum(
        pq.read_table(summary.folder / "dataset" / f"{name}.parquet").num_rows
        for name in ("train", "validation", "test")
    )
    assert saved == len(items)
    metadata = pq.read_schema(summary.folder / "dataset" / "train.parquet").metadata
    assert metadata[b"notices"].startswith(b"TEST: scripted replies.\nDRAFT: 12 of 12 proverbs")


def test_every_judge_rated_every_item(built: Path) -> None:
    stages, _, _ = build(built)
    judged = stages["judge"].table().to_pylist()
    assert stages["judge"].expected == 3 * stages["distractors"].kept == len(judged)
    assert {row["judge"] for row in judged} == {"judge-0", "judge-1", "judge-2"}
    assert all(row["status"] == "ok" and len(row["fits"]) == 4 for row in judged)


@pytest.mark.parametrize("stage", ["label", "filter", "judge"])
@pytest.mark.parametrize("damage", ["delete", "cut", "alter"])
def test_a_damaged_stage_alone_is_rebuilt_from_the_ledger(copy: Path, stage: str, damage: str) -> None:
    [file] = (copy / "artifacts" / "capr" / "en" / "stages" / stage).glob("*/kept.parquet")
    whole = file.read_bytes()
    if damage == "delete":
        file.unlink()
    else:
        file.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:-9] + b"#" + whole[-8:])
    stages, calls, _ = build(copy)
    assert _missed(dict(stages)) == [stage]
    assert calls["made"] == 0
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    ("prompt", "missed"),
    [("judge", ["judge", "curate"]), ("name_clusters", ["name_clusters", "curate"])],
)
def test_an_edited_prompt_misses_its_stage_and_what_changed_after_it(
    copy: Path, project: Path, prompt: str, missed: list[str]
) -> None:
    own = copy / "prompts" / "capr" / f"{prompt}.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    text = (project / "prompts" / "capr" / f"{prompt}.md").read_text(encoding="utf-8")
    own.write_text(text.replace("## user", "Take care.\n## user", 1), encoding="utf-8")
    stages, calls, _ = build(copy)
    assert _missed(dict(stages)) == missed
    assert calls["made"] > 0


def test_layout_of_a_prompts_front_matter_misses_nothing(copy: Path, project: Path) -> None:
    own = copy / "prompts" / "capr" / "judge.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    text = (project / "prompts" / "capr" / "judge.md").read_text(encoding="utf-8")
    own.write_text(text.replace("version: 1\n", "# a comment\nversion:   1\n"), encoding="utf-8")
    stages, _, _ = build(copy)
    assert _missed(dict(stages)) == []


def test_a_larger_limit_calls_for_new_rows_only(copy: Path, server: ScriptedServer) -> None:
    before = len(server.chats)
    stages, calls, _ = build(copy, limit_domains=4)
    assert _missed(dict(stages))[:2] == ["scenarios", "filter"]
    assert calls["reused"] >= 36
    scenario_calls = [r for r in server.chats[before:] if "short scenarios" in json.dumps(r.body)]
    assert len(scenario_calls) == 12


def test_both_protocols_give_equal_tables(built: Path, server: ScriptedServer, tmp_path: Path) -> None:
    other = make_root(tmp_path / "other", server.address, protocol="openai")
    ours, _, _ = build(built)
    theirs, _, _ = build(other)
    for name in STAGES:
        left, right = ours[name].table(), theirs[name].table()
        assert left.equals(right), name


def test_dropping_flagged_items_names_each(copy: Path) -> None:
    kept, _, _ = build(copy)
    flagged = sum(row["flag_paper"] for row in kept["curate"].table().to_pylist())
    dropped, calls, _ = build(copy, drop_flagged=True)
    assert calls["made"] == 0
    assert dropped["curate"].reasons.get("flagged", 0) == flagged > 0


@settings(deadline=None, max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(proverbs=st.integers(8, 20), domains=st.integers(1, 4), seed=st.integers(0, 3))
def test_rows_are_conserved_whatever_the_limits(
    tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer, proverbs: int, domains: int, seed: int
) -> None:
    root = make_root(tmp_path_factory.mktemp("any"), server.address)
    profile = root / "profiles" / "test.yaml"
    profile.write_text(profile.read_text(encoding="utf-8") + f"run_seed: {seed}\n", encoding="utf-8")
    stages, _, _ = build(root, limit_proverbs=proverbs, limit_domains=domains)
    assert stages["label"].expected == proverbs
    assert stages["scenarios"].expected == stages["label"].kept * domains
    assert all(ref.expected == ref.kept + ref.rejected for ref in stages.values())
    assert stages["curate"].expected == stages["distractors"].kept
