"""The folder a reader of README and docs/ stands in: a clone whose profiles ask the scripted server."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.docs.page import PROJECT, blocks

SPREADSHEET = "docs/add-a-language.md"


def make_reader_root(folder: Path, address: str) -> Path:
    """A copy of what a clone has and a command reads; models answer at ``address``, limits are small."""
    for name in ("pyproject.toml", "Makefile", "constraints.txt", "prefect.yaml"):
        (folder / name).symlink_to(PROJECT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    for name in ("seeds", "prompts"):
        shutil.copytree(PROJECT / name, folder / name)
    (folder / "profiles").mkdir()
    for file in (PROJECT / "profiles").glob("*.yaml"):
        profile = yaml.safe_load(file.read_text(encoding="utf-8"))
        write_profile(folder, file.stem, scripted(profile, address))
    return folder


def scripted(profile: dict[str, Any], address: str) -> dict[str, Any]:
    """The profile with its models and embedder on the scripted server, one domain, twelve proverbs."""
    for model in profile["models"].values():
        if model["backend"] == "openai":
            model["address"] = address
        else:
            model |= {"backend": "ollama", "model": model.get("model", "scripted"), "address": address}
    profile["embedder"] = {"backend": "ollama", "model": "embedder", "address": address}
    capr = profile.setdefault("capr", {})
    capr.setdefault("scenarios", {})["domains"] = 1
    capr.setdefault("acquire", {})["limit"] = 12
    return profile


def write_profile(root: Path, name: str, profile: dict[str, Any]) -> None:
    """Put a profile into the root."""
    text = yaml.safe_dump(profile, allow_unicode=True)
    (root / "profiles" / f"{name}.yaml").write_text(text, encoding="utf-8")


def spreadsheet(proverb: str, meaning: str) -> str:
    """The Spanish rows of docs/add-a-language.md under other column names."""
    rows = blocks(SPREADSHEET, "csv")[0].splitlines()
    return "\n".join([f"{proverb},{meaning}", *rows[1:]]) + "\n"


def served_names() -> list[str]:
    """Every model that the shipped profiles and the pages' own name, for the scripted server to have."""
    texts = [file.read_text(encoding="utf-8") for file in (PROJECT / "profiles").glob("*.yaml")]
    texts += blocks("docs/add-a-model-backend.md", "yaml")
    models = [model for text in texts for model in yaml.safe_load(text).get("models", {}).values()]
    return ["scripted", "embedder", *sorted({m["model"] for m in models if "model" in m})]
