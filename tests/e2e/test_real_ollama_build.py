"""The whole flow's stages on a real Ollama: Gemma 3 270M writes and judges, MiniLM embeds, small limits."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.flows.small import build, make_root
from tests.servers.real_ollama import CHAT_MODEL, EMBEDDING_MODEL, RealOllama

pytestmark = [pytest.mark.ollama, pytest.mark.timeout(900)]


def test_ends_with_a_dataset(real_ollama: RealOllama, tmp_path: Path) -> None:
    root = make_root(tmp_path, real_ollama.address)
    file = root / "profiles" / "test.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    profile["models"]["m"] |= {"model": CHAT_MODEL, "parallel": 4}
    profile["embedder"] |= {"model": EMBEDDING_MODEL}
    roles = profile["roles"]
    for role in (roles["label"], roles["name_clusters"], roles["scenarios"], *roles["judges"]):
        role |= {"max_tokens": 120, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.15}
    profile["capr"]["label"] = {"reject_copies": True}
    file.write_text(yaml.safe_dump(profile), encoding="utf-8")
    stages, calls, summary = build(root, limit_domains=1)
    assert calls["made"] > 0
    assert all(ref.expected == ref.kept + ref.rejected for ref in stages.values())
    items = stages["curate"].table().to_pylist()
    assert len(items) == summary.as_json["items"] >= 1
    assert all(item["option_ids"][item["answer"]] == item["proverb_id"] for item in items)
    again, calls, _ = build(root, limit_domains=1)
    assert calls == {"made": 0, "reused": 0}
    assert all(ref.cached for ref in again.values())
