"""Mistakes of the user's: one paragraph that says what to type, before any model call."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from flows.assembly import assemble
from flows.screen import Screen
from pipeline.errors import AdageError, ConfigError, PrerequisiteError, SeedError
from tests.flows.small import build, make_root, request
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _seeds(root: Path, rows: list[dict[str, str]]) -> None:
    with (root / "seeds" / "en" / "proverbs.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _rows(n: int) -> list[dict[str, str]]:
    words = ["apple", "bread", "candle", "door", "eagle", "field", "garden", "house", "island", "jacket"]
    return [
        {
            "proverb_id": f"en-{i}",
            "text": f"The {words[i]} falls",
            "meaning": f"Meaning of {words[i]}",
            "meaning_en": "",
        }
        for i in range(n)
    ]


def _profile(root: Path, **changed: object) -> None:
    file = root / "profiles" / "test.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **changed}), encoding="utf-8")


def _error(root: Path, **changed: object) -> AdageError:
    with pytest.raises(AdageError) as caught:
        build(root, **changed)
    return caught.value


def test_each_mistake_says_what_to_do(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    unknown = _error(root, lang="qq")
    assert isinstance(unknown, ConfigError)
    assert "unknown language 'qq'" in str(unknown)
    assert "am, ar, en" in str(unknown)
    assert "not a name" in str(_error(root, lang="../en"))
    assert "unknown profile 'none': known are demo, local, paper, test" in str(_error(root, profile="none"))
    assert "too few proverbs" in str(_error(root, limit_proverbs=5))
    no_seeds = _error(root, lang="sw")
    assert isinstance(no_seeds, SeedError)
    assert "adage seeds import FILE --lang sw" in str(no_seeds)
    assert server.chats == []


def test_a_misspelt_setting_names_field_and_value(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    _profile(root, capr={"filter": {"overlapp": 0.3}})
    assert "capr.filter.overlapp: Extra inputs are not permitted (value: 0.3)" in str(_error(root))
    _profile(root, capr={"scenarios": {"domains": 11}})
    assert "capr.scenarios.domains: Input should be less than or equal to 10 (value: 11)" in str(_error(root))


def test_a_model_that_is_not_pulled_and_a_server_that_is_away(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    _profile(root, models={"m": {"backend": "ollama", "model": "absent", "address": server.address}})
    assert "ollama pull absent" in str(_error(root))
    _profile(root, models={"m": {"backend": "ollama", "model": "scripted", "address": "http://127.0.0.1:9"}})
    away = _error(root)
    assert isinstance(away, PrerequisiteError)
    assert "ollama serve" in str(away)


def test_a_missing_column_names_those_found(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    _seeds(root, [{"Proverb": "a", "Meaning": "b"}])
    error = str(_error(root))
    assert "columns found: Proverb, Meaning" in error
    assert "--map text=COLUMN" in error


def test_a_proverb_without_meaning_is_rejected_never_invented(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    rows = _rows(10)
    rows[3]["meaning"] = ""
    rows[4] |= {"meaning": "", "meaning_en": "Stands in"}
    rows[6] |= {"text": "THE  apple, falls!"}
    _seeds(root, rows)
    with assemble(request(root), Screen()) as assembly:
        ref = assembly.runner.run("acquire")
    rejected = {row["row_id"]: row["reason"] for row in ref.rejected_table().to_pylist()}
    assert rejected == {"en-3": "no_meaning", "en-6": "duplicate"}
    stood_in = {row["proverb_id"]: row["meaning_from"] for row in ref.table().to_pylist()}
    assert stood_in["en-4"] == "en"
    assert stood_in["en-5"] == "native"
