"""What a run's manifest says of its models: what was asked, and what the replies showed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.runs import FORMAT, find_run, load_run
from pipeline.errors import ConfigError
from tests.flows.small import build, make_root
from tests.servers.scripted import OLLAMA_VERSION, ScriptedServer, digest_of
from tests.servers.wire import FINGERPRINT

ROLES = {"label", "name_clusters", "scenarios", "judge judge-0", "judge judge-1", "judge judge-2"}
WANTED = {
    "ollama": {"identity": f"ollama:{digest_of('scripted')}", "digest": digest_of("scripted")},
    "openai": {"identity": "openai:scripted@1", "revision": "1"},
}
SERVERS = {"ollama": f"ollama {OLLAMA_VERSION}", "openai": f"openai-compatible {FINGERPRINT}"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _models(root: Path) -> dict[str, Any]:
    manifest = json.loads(
        (root / "artifacts" / "capr" / "en" / "runs" / "test" / "manifest.json").read_text(encoding="utf-8")
    )
    found: dict[str, Any] = manifest["models"]
    return found


@pytest.mark.parametrize("protocol", WANTED)
def test_digest_options_thinking_and_server(server: ScriptedServer, tmp_path: Path, protocol: str) -> None:
    root = make_root(tmp_path, server.address, protocol=protocol)
    file = root / "profiles" / "test.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    profile["roles"]["scenarios"] = profile["roles"]["scenarios"] | {"think": False, "top_k": 40}
    file.write_text(yaml.safe_dump(profile), encoding="utf-8")
    # Told not to think, the model thinks all the same, in tags.
    server.fail_when("short scenarios", "think_tags", times=5)
    _, calls, _ = build(root)
    models = _models(root)
    assert set(models) == ROLES
    for model in models.values():
        assert model["model"] == "scripted"
        assert {name: model[name] for name in WANTED[protocol]} == WANTED[protocol]
        assert model["options"]["temperature"] == 0.7
        assert model["options"]["num_ctx"] == 4096
        assert model["servers"] == {SERVERS[protocol]: model["replies"]}
        assert model["answers"] == {"ok": model["replies"]}
    assert models["scenarios"]["options"]["think"] is False
    assert models["scenarios"]["options"]["top_k"] == 40
    assert models["scenarios"]["thinking"] == {"asked": False, "effective": True, "replies_with": 5}
    assert models["label"]["thinking"] == {"asked": None, "effective": False, "replies_with": 0}
    assert sum(model["calls"]["made"] for model in models.values()) == calls["made"]
    # Reused or rebuilt from the ledger, the manifest still says what the replies showed.
    build(root)
    cached = _models(root)
    assert cached["scenarios"]["calls"] == {"made": 0, "reused": 0}
    shutil.rmtree(root / "artifacts" / "capr" / "en" / "stages")
    build(root)
    for again in (cached, _models(root)):
        for name in ("thinking", "servers", "answers", "replies", "identity", "options"):
            assert {role: model[name] for role, model in again.items()} == {
                role: model[name] for role, model in models.items()
            }


def test_a_manifest_of_another_version_or_a_damaged_one_is_one_paragraph(tmp_path: Path) -> None:
    runs = tmp_path / "en" / "runs"
    file = runs / "demo" / "manifest.json"
    file.parent.mkdir(parents=True)
    for text, said in (
        ('{"finished": "2026-01-01", "stages": []}', "another version of adage"),
        ('{"format": 0}', "--lang en --profile demo"),
        ('{"format"', "damaged"),
        ("[]", "not an object"),
        ("\udcff", "damaged"),
    ):
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(ConfigError, match=said):
            load_run(runs, None)
    assert find_run(runs, "other") is None


FIELDS = """
format family lang profile version base finished adage python notices language run_seed limits profile_digest
profile_settings embedder models stage_parts stages items splits flagged shortcuts calls
"""
FACTS = {
    "acquire": "selected in_base drafts meaning_stood_in_by_english explanation_contains_proverb",
    "label": "distinct_labels models",
    "cluster": """k k_searched k_note k_skipped_for_lack_of_other_clusters silhouettes distinct_labels
        doubled_labels""",
    "name_clusters": "models",
    "scenarios": "domains models",
    "filter": "similarity_cap distributions longer_than_embedder_window",
    "distractors": "caps rule distributions longer_than_embedder_window",
    "judge": "judges invalid_ratings agreement models",
    "curate": "proverbs_by_split items_by_split flagged flag_reasons ambiguous invalid splits",
}


def test_other_fields_want_another_format(server: ScriptedServer, tmp_path: Path) -> None:
    """Readers of this version take these for granted: give FORMAT another number when you change them."""
    manifest = build(make_root(tmp_path, server.address))[2].manifest
    assert manifest["format"] == FORMAT == 1
    assert list(manifest) == FIELDS.split()
    assert {stage["name"]: list(stage["facts"]) for stage in manifest["stages"]} == {
        name: fields.split() for name, fields in FACTS.items()
    }
