"""The shipped profiles: `paper` to the letter, `demo` and `local` with the adapted values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.capr.domains import DOMAINS
from pipeline.errors import ConfigError
from pipeline.profile import OllamaModel, Profile, load_profile, validated


def _profile(project: Path, name: str) -> Profile:
    return load_profile(project / "profiles" / f"{name}.yaml", [])


def test_paper_is_literal(project: Path) -> None:
    paper = _profile(project, "paper")
    served = {name: m.model for name, m in paper.models.items() if isinstance(m, OllamaModel)}
    assert served[paper.roles.scenarios.model] == served[paper.roles.label.model] == "gpt-oss:120b"
    assert paper.roles.scenarios.temperature == 1.0
    assert [served[judge.model] for judge in paper.roles.judges] == [
        "gemma3:27b",
        "mistral-small3.2",
        "aya-expanse:32b",
    ]
    assert {judge.temperature for judge in paper.roles.judges} == {0.3}
    assert {judge.stance for judge in paper.roles.judges} == {""}
    assert paper.capr.cluster.k_range == "paper"
    assert paper.capr.name_clusters.most_labels is None
    assert (paper.capr.filter.similarity_cap, paper.capr.distractors.similarity_cap) == ("fixed", "fixed")
    assert (paper.capr.distractors.rule, paper.capr.distractors.meaning_cap) == ("paper", False)
    filtering = paper.capr.filter
    assert (filtering.script_share, filtering.least_words, filtering.most_words, filtering.overlap) == (
        0.7,
        10,
        120,
        0.3,
    )
    assert paper.capr.scenarios.domains == len(DOMAINS) == 10
    assert paper.capr.curate.drop_flagged is False
    assert paper.capr.acquire.limit is None


@pytest.mark.parametrize("name", ["demo", "local"])
def test_the_others_are_adapted(project: Path, name: str) -> None:
    capr = _profile(project, name).capr
    assert capr.cluster.k_range == "adapted"
    assert (capr.filter.similarity_cap, capr.distractors.similarity_cap) == ("calibrated", "calibrated")
    assert (capr.distractors.rule, capr.distractors.meaning_cap) == ("paper", True)
    assert (capr.filter.least_words, capr.filter.most_words, capr.filter.overlap) == (10, 120, 0.3)
    assert capr.curate.drop_flagged is False


def test_three_judges_everywhere_and_of_three_makers_but_in_the_demo(project: Path) -> None:
    for name in ("paper", "local"):
        profile = _profile(project, name)
        assert len({profile.models[judge.model] for judge in profile.roles.judges}) == 3
    demo = _profile(project, "demo")
    assert len({judge.stance for judge in demo.roles.judges}) == 3
    assert "not a real jury" in demo.notice


def _changed(project: Path, path: str, value: object) -> dict[str, Any]:
    """The local profile's data with another value at ``a.b.c``."""
    data = _profile(project, "local").model_dump(mode="json")
    *parents, last = path.split(".")
    place = data
    for parent in parents:
        place = place[parent]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("section", "settings", "said"),
    [
        (
            "scenarios",
            {"least_characters": 200, "most_characters": 100},
            "capr.scenarios: Value error, least_characters 200 is above most_characters 100",
        ),
        ("scenarios", {"least_characters": 2000}, "least_characters 2000 is above most_characters 1200"),
        (
            "filter",
            {"least_words": 100, "most_words": 50},
            "capr.filter: Value error, least_words 100 is above most_words 50",
        ),
    ],
)
def test_a_least_above_its_most_names_both(
    project: Path, section: str, settings: dict[str, int], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        validated(_changed(project, f"capr.{section}", settings), "p.yaml")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:99999",
        "http://[::1",
        "localhost:11434",
        "ftp://box",
        "http://",
        "",
        "http://my box",
        "http://box?x=1",
        ["http://box", "http://box:port"],
        [],
    ],
)
@pytest.mark.parametrize("field", ["models.generator.address", "embedder.address"])
def test_an_address_where_nothing_can_be_is_refused(project: Path, field: str, address: object) -> None:
    with pytest.raises(ConfigError, match=rf"p\.yaml: {field.rpartition('.')[0]}\..*address"):
        validated(_changed(project, field, address), "p.yaml")


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_an_endless_number_is_refused(project: Path, value: float) -> None:
    for field in ("models.generator.timeout_seconds", "roles.label.repeat_penalty"):
        with pytest.raises(ConfigError, match="Input should be "):
            validated(_changed(project, field, value), "p.yaml")


@pytest.mark.parametrize("backend", ["ollama", "sentence-transformers"])
def test_an_embedder_without_a_model_is_refused(project: Path, backend: str) -> None:
    with pytest.raises(ConfigError, match=rf"p\.yaml: embedder: .* backend {backend} needs model: "):
        validated(_changed(project, "embedder", {"backend": backend}), "p.yaml")


@pytest.mark.parametrize("address", ["http://box:8000/v1", "https://u:p@box", "http://[::1]:1", ["http://b"]])
def test_addresses_of_servers_are_taken(project: Path, address: object) -> None:
    profile = validated(_changed(project, "models.generator.address", address), "p.yaml")
    assert profile.model_dump(mode="json")["models"]["generator"]["address"] == address


def test_a_run_s_manifest_tells_no_password(project: Path) -> None:
    data = _changed(project, "models.generator.address", ["https://u:secret@box", "http://b"])
    profile = validated({**data, "ledger": "postgresql+psycopg://u:secret@h/db"}, "p.yaml")
    told = profile.settings
    assert told["models"]["generator"]["address"] == ["https://u:***@box", "http://b"]
    assert told["ledger"] == "postgresql+psycopg://u:***@h/db"
    assert told["roles"] == profile.model_dump(mode="json")["roles"]
