"""A small root whose profile points to a scripted server, and builds in it without Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from flows.assembly import BuildRequest, assemble
from flows.runs import Summary
from flows.screen import Screen
from pipeline.capr.graph import STAGES
from pipeline.store.stages import StageRef


def make_root(folder: Path, address: str, protocol: str = "ollama", lang: str = "en", **capr: Any) -> Path:
    """A root with the shipped seeds of ``lang`` and a profile `test` on the server at ``address``."""
    model: dict[str, Any] = {"backend": protocol, "model": "scripted", "address": address, "num_ctx": 4096}
    if protocol == "openai":
        model["revision"] = "1"
    role = {"model": "m", "temperature": 0.7, "max_tokens": 400}
    profile = {
        "description": "for tests",
        "notice": "TEST: scripted replies.",
        "models": {"m": model},
        "embedder": {"backend": "ollama", "model": "embedder", "address": address},
        "roles": {
            "label": role,
            "name_clusters": role,
            "scenarios": role,
            "judges": [{"name": f"judge-{i}", **role, "stance": f"stance {i}"} for i in range(3)],
        },
        "capr": {
            "acquire": {"limit": 12},
            "scenarios": {
                "domains": 3,
                "script_grammar": True,
                "least_characters": 90,
                "most_characters": 160,
            },
            **capr,
        },
    }
    seeds = folder / "seeds" / lang
    seeds.mkdir(parents=True)
    (folder / "profiles").mkdir()
    source = Path(__file__).resolve().parents[2] / "seeds" / lang
    for name in ("proverbs.csv", "language.yaml"):
        (seeds / name).write_bytes((source / name).read_bytes())
    (folder / "profiles" / "test.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    return folder


def request(root: Path, **changed: Any) -> BuildRequest:
    """The build of this root."""
    return BuildRequest(**{"lang": "en", "profile": "test", "root": str(root), **changed})


def build(root: Path, **changed: Any) -> tuple[Mapping[str, StageRef], Mapping[str, int], Summary]:
    """Run every stage; gives back the stages, the calls and the finished run."""
    with assemble(request(root, **changed), Screen()) as assembly:
        for stage in STAGES:
            assembly.run(stage)
        calls = assembly.calls()
        summary = assembly.finish()
        return dict(assembly.runner.done), calls, summary
