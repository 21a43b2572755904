"""`adage doctor` on servers that are well and on servers that are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.flows.small import make_root
from tests.flows.typed import Ended, Type
from tests.servers.scripted import ScriptedServer, digest_of


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(params=["ollama", "openai"])
def root(server: ScriptedServer, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return make_root(tmp_path, server.address, protocol=request.param)


def _profile(root: Path, role: dict[str, Any], model: dict[str, Any]) -> None:
    """Change the scenarios' role, and the model of all."""
    file = root / "profiles" / "test.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    profile["roles"]["scenarios"] = profile["roles"]["scenarios"] | role
    profile["models"]["m"] |= model
    file.write_text(yaml.safe_dump(profile), encoding="utf-8")


def _failed(ended: Ended) -> dict[str, str]:
    """What failed and what to do about it."""
    checked = json.loads(ended.out)["checked"]
    return {f["name"]: f["fix"] for thing in checked for f in thing["findings"] if not f["ok"]}


def test_all_is_well(root: Path, server: ScriptedServer, adage: Type) -> None:
    shown = adage("doctor", "--profile", "test", "--root", root)
    assert (shown.code, shown.err) == (0, "")
    assert "FAIL" not in shown.out
    assert "model m for label, name_clusters, scenarios, judge judge-0, judge judge-1, judge judge-2" in (
        shown.out
    )
    for looked_at in ("disk", "ledger", "vectors", "server and model", "context length", "thinking"):
        assert f"  ok  {looked_at}" in shown.out
    assert "ok: {'colour': '" in shown.out
    assert "all 8 checks of profile test went well" in shown.out
    # One structured call and one with log-probabilities; none of it reaches the run's ledger.
    assert len(server.chats) == 2
    assert not (root / "artifacts").exists()


def test_what_a_role_asks_otherwise_is_looked_at_too(root: Path, server: ScriptedServer, adage: Type) -> None:
    _profile(root, {"temperature": 1.0}, {})
    told = json.loads(adage("doctor", "--profile", "test", "--root", root, "--json").out)
    assert told["ok"] is True
    assert [thing["roles"] for thing in told["checked"][2:]] == [
        ["label", "name_clusters", "judge judge-0", "judge judge-1", "judge judge-2"],
        ["scenarios"],
    ]
    assert len(server.chats) == 4


def test_a_digest_or_a_revision_is_told(server: ScriptedServer, tmp_path: Path, adage: Type) -> None:
    said = []
    for protocol in ("ollama", "openai"):
        root = make_root(tmp_path / protocol, server.address, protocol=protocol)
        told = json.loads(adage("doctor", "-p", "test", "--root", root, "--json").out)
        said.append(told["checked"][2]["findings"][0]["detail"])
    assert said == [f"ollama:{digest_of('scripted')}; ollama 0.17.4", "openai:scripted@1; openai-compatible"]


def test_every_failure_says_what_to_do(server: ScriptedServer, tmp_path: Path, adage: Type) -> None:
    root = make_root(tmp_path, server.address)
    _profile(root, {"think": True}, {"num_ctx": 16384})
    ended = adage("doctor", "--profile", "test", "--root", root, "--json")
    assert ended.code == 3
    assert ended.err == ("adage: 4 of 12 checks of profile test failed; what to do stands beside each\n")
    fixes = _failed(ended)
    assert fixes["context length"] == "set num_ctx to at most 8192 in the profile"
    assert fixes["thinking"] == "leave think out of this role in the profile, or set it to false"
    assert "does not support thinking" in fixes["structured reply"]
    shown = adage("doctor", "--profile", "test", "--root", root).out
    assert "FAIL  context length" in shown
    assert "to do             set num_ctx to at most 8192 in the profile" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_a_missing_model_server_embedder_and_ledger(
    server: ScriptedServer, tmp_path: Path, adage: Type
) -> None:
    root = make_root(tmp_path, server.address)
    (root / "artifacts").mkdir()
    (root / "artifacts" / "ledger.sqlite").write_text("notes " * 1000)
    server.models.remove("scripted")
    server.models.remove("embedder")
    fixes = _failed(adage("doctor", "--profile", "test", "--root", root, "--json"))
    assert set(fixes) == {"ledger", "vectors", "server and model"}
    assert "ollama pull scripted" in fixes["server and model"]
    assert "ollama pull embedder" in fixes["vectors"]
    assert "move ledger.sqlite" in fixes["ledger"]
    server.stop()
    fixes = _failed(adage("doctor", "--profile", "test", "--root", root, "--json"))
    server.start()
    assert "ollama serve" in fixes["server and model"]
    assert "ollama serve" in fixes["vectors"]


def test_an_api_key_that_is_missing_or_refused(
    server: ScriptedServer, tmp_path: Path, adage: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(tmp_path, server.address, protocol="openai")
    server.keys.append("sk-right")
    _profile(root, {}, {"api_key_variable": "OUR_KEY"})
    fixes = _failed(adage("doctor", "--profile", "test", "--root", root, "--json"))
    assert "export OUR_KEY=" in fixes["server and model"]
    monkeypatch.setenv("OUR_KEY", "sk-wrong")
    refused = adage("doctor", "--profile", "test", "--root", root, "--json")
    assert "refuses the API key" in _failed(refused)["structured reply"]
    assert "sk-wrong" not in refused.out + refused.err
    monkeypatch.setenv("OUR_KEY", "sk-wr\nong")
    refused = adage("doctor", "--profile", "test", "--root", root, "--json")
    assert "OUR_KEY holds line ends" in _failed(refused)["server and model"]
    assert "sk-wr" not in refused.out + refused.err
    monkeypatch.setenv("OUR_KEY", "sk-right\r\n")
    assert adage("doctor", "--profile", "test", "--root", root).code == 0
    _profile(root, {}, {"address": server.address.replace("//", "//bob:hunter2@")})
    refused = adage("doctor", "--profile", "test", "--root", root, "--json")
    assert "both a user in its address and an API key" in _failed(refused)["server and model"]
