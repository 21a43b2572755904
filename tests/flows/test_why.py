"""What `adage why` tells of items kept, rejected and made by a build that is gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from flows.cli.help import WIDTH
from flows.cli.life import life_lines
from flows.cli.main import app
from pipeline.capr.graph import STAGES
from pipeline.capr.why import Life, RawReply, Step
from pipeline.errors import ConfigError
from pipeline.llm.ledger_tools import StoredReply
from pipeline.store.tables import read_table
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture(scope="module")
def built(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Eighteen words at most: some scenarios are longer.
    root = make_root(
        tmp_path_factory.mktemp("root"), server.address, filter={"least_words": 1, "most_words": 18}
    )
    build(root)
    return root


def _type(root: Path, *words: str) -> str:
    typed = ["why", *words, "--lang", "en", "--root", str(root)]
    ended = CliRunner().invoke(app, typed, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    assert [line for line in ended.stdout.splitlines() if cell_len(line) > WIDTH] == []
    return ended.stdout


def _tell(root: Path, identifier: str) -> dict[str, Any]:
    told = json.loads(
        CliRunner().invoke(app, ["why", identifier, "--lang", "en", "--root", str(root), "--json"]).stdout
    )
    told["steps"] = {step["stage"]: step for step in told["steps"]}
    return dict(told)


def test_a_ledger_behind_a_password_is_the_one_the_profile_names(built: Path) -> None:
    manifest = built / "artifacts" / "capr" / "en" / "runs" / "test" / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    item = _items(built)[0]["item_id"]
    wanted = _tell(built, item)
    assert '"ledger": null' in text
    try:
        told = '"ledger": "postgresql+psycopg://u:***@127.0.0.1:1/x"'
        manifest.write_text(text.replace('"ledger": null', told), encoding="utf-8")
        assert _tell(built, item) == wanted
    finally:
        manifest.write_text(text, encoding="utf-8")


def _items(root: Path) -> list[dict[str, Any]]:
    folder = root / "artifacts" / "capr" / "en" / "runs" / "test" / "dataset"
    rows = [row for file in sorted(folder.glob("*.parquet")) for row in read_table(file).to_pylist()]
    assert rows
    return rows


def _rejected(root: Path, stage: str) -> list[dict[str, Any]]:
    rows = read_table(root / "artifacts" / "capr" / "en" / "runs" / "test" / "rejected.parquet").to_pylist()
    return [row for row in rows if row["stage"] == stage]


def test_an_items_whole_life(built: Path) -> None:
    item = _items(built)[0]
    told = _tell(built, item["item_id"])
    assert (told["kind"], told["split"]) == ("item", item["split"])
    assert told["source"].startswith("the run of profile test finished")
    steps = told["steps"]
    assert list(steps) == list(STAGES)
    assert steps["acquire"]["kept"][0]["proverb_id"] == item["proverb_id"]
    assert steps["curate"]["kept"] == [item]
    assert steps["filter"]["params"]["most_words"] == 18
    assert steps["distractors"]["facts"]["caps"]["proverb_cap"]["cap"] == 0.85
    for stage, field, column in (("label", "theme", "label_raw"), ("name_clusters", "name", "name")):
        [reply] = steps[stage]["replies"]
        assert json.loads(reply["stored"]["content"])[field] == steps[stage]["kept"][0][column]
    [reply] = [reply for reply in steps["scenarios"]["replies"] if reply["used"]]
    assert " ".join(json.loads(reply["stored"]["content"])["scenario"].split()) == item["scenario"]
    judged = {row["judge"]: row["fits"] for row in steps["judge"]["kept"]}
    said = {
        reply["stored"]["row_id"].split("@")[1]: json.loads(reply["stored"]["content"])["fits"]
        for reply in steps["judge"]["replies"]
        if reply["used"]
    }
    assert said == judged
    assert set(judged) == {"judge-0", "judge-1", "judge-2"}
    shown = _type(built, item["item_id"])
    assert f"{item['item_id']} (item), from the run of profile test" in shown
    key = "ABCD"[item["answer"]]
    assert f"  * {key}  {item['options'][item['answer']]}\n" in shown
    assert "(1 to 18)" in shown
    assert f"split {item['split']}; " in shown
    # A scenario's life is that of its items.
    assert _tell(built, item["scenario_id"])["steps"]["curate"]["kept"] == [item]


def test_an_item_kept_from_a_base_dataset_still_tells_all_that_is_known(built: Path, tmp_path: Path) -> None:
    item = _items(built)[0]
    before = _tell(built, item["item_id"])["steps"]
    root = shutil.copytree(built, tmp_path / "root")
    build(root, base="artifacts/capr/en/runs/test")
    steps = _tell(root, item["item_id"])["steps"]
    assert steps["distractors"]["kept"] == steps["judge"]["kept"] == []
    for stage in ("label", "scenarios", "judge"):
        stored = [reply["stored"] for reply in before[stage]["replies"]]
        assert [reply["stored"] for reply in steps[stage]["replies"]] == stored != []
    shown = _type(root, item["item_id"])
    assert f"  * {'ABCD'[item['answer']]}  {item['options'][item['answer']]}\n" in shown
    assert " ".join(item["scenario"].split()) in " ".join(shown.split())
    assert f"by label '{before['label']['kept'][0]['label']}'" in shown
    assert "kept from the base dataset" in shown
    assert "kept from the base dataset" not in _type(built, item["item_id"])


def test_a_rejected_scenario_shows_the_numbers_that_decided(built: Path) -> None:
    long = next(row for row in _rejected(built, "filter") if row["reason"] == "too_long")
    steps = _tell(built, long["row_id"])["steps"]
    [rejection] = steps["filter"]["rejected"]
    assert rejection["numbers"]["words"] > 18
    assert steps["filter"]["kept"] == steps["curate"]["kept"] == steps["judge"]["replies"] == []
    shown = _type(built, long["row_id"])
    assert "rejected        filter: too_long" in shown
    assert f"words {rejection['numbers']['words']} (1 to 18); " in shown
    assert "no item came of it; split of its proverb: " in shown
    whole = _type(built, long["row_id"].split(".")[0])
    assert f"  {long['row_id']}: filter rejected it: too_long" in whole


def test_every_attempt_of_a_proverb_without_a_label_is_shown(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", server.address)
    seeds = (root / "seeds" / "en" / "proverbs.csv").read_text(encoding="utf-8").splitlines()
    proverb_id, text = seeds[3].split(",")[:2]
    server.fail_when(text, "language", times=3)
    build(root)
    server.heal()
    told = _tell(root, proverb_id)
    assert (told["kind"], told["fates"]) == ("proverb", [])
    label = told["steps"]["label"]
    assert label["kept"] == []
    assert [row["reason"] for row in label["rejected"]] == ["reply_invalid"]
    assert [(r["stored"]["attempt"], r["used"]) for r in label["replies"]] == [
        (0, False), (1, False), (2, False)
    ]  # fmt: skip
    raw = [reply["stored"]["content"] for reply in label["replies"]]
    assert label["rejected"][0]["raw"] == "\n---\n".join(raw)
    shown = _type(root, proverb_id)
    assert "rejected        label: reply_invalid" in shown
    assert "reply, attempt 3, " in shown


def test_an_item_of_a_build_that_was_replaced_is_found_in_the_stages(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "root")
    before = _tell(root, _items(root)[0]["item_id"])
    profile = root / "profiles" / "test.yaml"
    profile.write_text(profile.read_text(encoding="utf-8") + "run_seed: 5\n", encoding="utf-8")
    build(root)
    assert before["id"] not in {item["item_id"] for item in _items(root)}
    after = _tell(root, before["id"])
    assert after["source"].startswith("another build, by curate/")
    assert after["steps"]["curate"] == before["steps"]["curate"]
    used = [[r for r in life["steps"]["scenarios"]["replies"] if r["used"]] for life in (before, after)]
    assert used[0] == used[1] != []
    assert "replies to another build's prompts or settings are among these" in _type(root, before["id"])


def test_an_unknown_id_shows_what_ids_look_like_and_near_ones(built: Path) -> None:
    item = _items(built)[0]["item_id"]
    with pytest.raises(ConfigError) as caught:
        _type(built, item[:-1])
    said = str(caught.value)
    assert f"no item, scenario or proverb {item[:-1]!r} in " in said
    assert "Ids look like these: proverb en-" in said
    assert f"Near it: {item}" in said
    with pytest.raises(ConfigError, match="Nothing was built there yet: type adage build capr --lang en"):
        _type(built.parent / "elsewhere", item)


def test_a_profile_that_is_not_there_is_an_error(built: Path) -> None:
    ended = CliRunner().invoke(
        app, ["why", "en-00000000", "--lang", "en", "--profile", "nope", "--root", str(built)]
    )
    assert isinstance(ended.exception, ConfigError)
    assert "unknown profile 'nope'" in str(ended.exception)


def test_without_a_ledger_the_rows_are_told_and_none_is_made(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "root")
    for file in (root / "artifacts").glob("ledger.sqlite*"):
        file.unlink()
    told = _tell(root, _items(root)[0]["item_id"])
    assert all(step["replies"] == [] for step in told["steps"].values())
    assert list((root / "artifacts").glob("ledger*")) == []


def test_right_to_left_texts_are_set_apart_and_what_hides_is_shown() -> None:
    seed = {
        "text": "من جد وجد",
        "meaning": "Who tries hard gets there",
        "meaning_from": "en",
        "meaning_en": "Who tries hard gets there",
        "equivalent_en": "Where there is a will there is a way",
        "source": "unverified",
        "status": "draft",
        "proverb_id": "ar-1",
        "group": "ar-2",
        "contains_proverb": False,
        "selected": True,
        "in_base": False,
    }
    content = json.dumps({"scenario": "كلمة " * 60 + "\u202e"}, ensure_ascii=False)
    reply = RawReply(
        StoredReply("ar-1.family", "m", 0, 0, content, "", "stop", "2026-01-01T00:00:00.000+00:00"), False
    )
    steps = [
        Step("acquire", [seed], [], {}, {}),
        Step("scenarios", [], [], {}, {}, [reply]),
    ]
    lines = life_lines(Life("ar-1", "proverb", "a test", None, steps, []), "rtl")
    assert "seed            \u2068من جد وجد\u2069" in lines
    assert "  meaning       Who tries hard gets there" in lines
    assert "                status draft; meaning from en; variants' group ar-2" in lines
    shown = [line for line in lines if "كلمة" in line]
    assert len(shown) > 3
    assert all(line.strip().startswith("\u2068") and line.endswith("\u2069") for line in shown)
    assert "[U+202E]" in "".join(lines)
    assert all(cell_len(line) <= WIDTH for line in lines)
