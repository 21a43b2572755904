"""A profile that names a GlotLID model identifies scenarios with it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pipeline.errors import ConfigError
from tests.flows.small import build, make_root
from tests.language.fasttext_model import write_model
from tests.servers.scripted import ScriptedServer


def _name_model(root: Path, model: str) -> None:
    file = root / "profiles" / "test.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump({**profile, "glotlid_model": model}), encoding="utf-8")


def test_the_models_verdict_decides_and_enters_the_key(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="the package fasttext is not installed")
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address)
        before, _, _ = build(root)
        assert set(before["filter"].table()["verdict"].to_pylist()) == {"yes"}
        words = {word for text in before["filter"].table()["text"].to_pylist() for word in text.split()}
        labels = {"jav_Latn": [5.0], "eng_Latn": [0.0]}
        write_model(root / "model.bin", labels, {word: [1.0] for word in sorted(words)})
        _name_model(root, "model.bin")
        after, calls, _ = build(root)
    assert after["filter"].kept == 0
    assert after["filter"].reasons["wrong_language"] == before["filter"].kept
    assert not after["filter"].cached
    assert calls["made"] == 0


def test_a_model_that_is_not_there_is_named_before_any_call(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="the package fasttext is not installed")
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address)
        _name_model(root, "absent.bin")
        with pytest.raises(ConfigError, match=r"absent\.bin: no such file"):
            build(root)
        assert server.chats == []
