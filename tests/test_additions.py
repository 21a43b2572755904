"""CONTRIBUTING's list is true: what it says to touch is there, and is enough."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def built(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_root(tmp_path_factory.mktemp("built"), server.address)
    build(root)
    return root


def _rows(project: Path) -> dict[str, str]:
    text = (project / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| (an? [^|]+?) \| (.+?) \|$", text, re.MULTILINE))


def _paths(row: str) -> list[str]:
    return [path for path in re.findall(r"`([^`]+)`", row) if "/" in path]


def _written(root: Path) -> set[str]:
    files = (file.relative_to(root) for file in root.rglob("*") if file.is_file())
    return {str(file) for file in files if file.parts[0] != "artifacts"}


def test_every_file_the_list_names_exists(project: Path) -> None:
    rows = _rows(project)
    assert len(rows) >= 10
    for row in rows.values():
        for path in _paths(row):
            found = list(project.glob(re.sub(r"<\w+>", "*", path.rstrip("/"))))
            assert found, f"{path} is not there"


def test_a_language_is_two_files(project: Path, server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    before = _written(root)
    for place in _paths(_rows(project)["a language"].split(" | ")[0]):
        source = root / place.replace("<lang>", "en")
        added = root / place.replace("<lang>", "qaa")
        added.parent.mkdir(exist_ok=True)
        text = source.read_text(encoding="utf-8")
        # An English of its own: another name, code and alphabet of options, which no code knows.
        text = text.replace("en-", "qaa-").replace("name: English", "name: Quenya")
        added.write_text(text, encoding="utf-8")
    stages, calls, summary = build(root, lang="qaa")
    assert _written(root) - before == {"seeds/qaa/language.yaml", "seeds/qaa/proverbs.csv"}
    assert summary.as_json["items"] > 0
    assert calls["made"] > 0
    assert all(row["proverb_id"].startswith("qaa-") for row in stages["curate"].table().to_pylist())


def test_a_profile_is_one_file(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address)
    profile = yaml.safe_load((root / "profiles" / "test.yaml").read_text(encoding="utf-8"))
    profile["capr"]["acquire"]["limit"] = 9
    (root / "profiles" / "ours.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    stages, _, summary = build(root, profile="ours")
    assert summary.folder == root / "artifacts" / "capr" / "en" / "runs" / "ours"
    assert stages["label"].expected == 9


@pytest.mark.parametrize("stage", ["label", "name_clusters", "scenarios", "judge"])
def test_a_prompt_change_is_one_file(stage: str, project: Path, built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "root")
    first, _, _ = build(root)
    [place] = _paths(_rows(project)["a prompt change"].split(" | ")[0])
    own = root / place.replace("<stage>", stage)
    own.parent.mkdir(parents=True)
    text = (project / place.replace("<stage>", stage)).read_text(encoding="utf-8")
    own.write_text(text.replace("## user", "Think of the reader.\n## user", 1), encoding="utf-8")
    second, calls, _ = build(root)
    assert next(name for name in second if not second[name].cached) == stage
    assert second[stage].key != first[stage].key
    assert calls["made"] > 0
