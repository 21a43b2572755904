"""Shell completion in a real bash, with the script that `adage --show-completion` prints there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.command_tree import CONTEXTS
from tests.servers.needed import unavailable

SCRIPT = """
eval "$(adage --show-completion)"
COMP_WORDS=(%s "$1"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_adage_completion adage "$1"
printf '%%s\\n' "${COMPREPLY[@]}"
"""

LANG = [
    path for path, c in CONTEXTS.items() if any("--lang" in param.opts for param in c.command.get_params(c))
]
PROFILE = [
    path for path, c in CONTEXTS.items() if any("--profile" in p.opts for p in c.command.get_params(c))
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a language and a profile that do not ship."""
    (tmp_path / "seeds" / "xx").mkdir(parents=True)
    (tmp_path / "seeds" / "xx" / "language.yaml").write_text("name: X\n", encoding="utf-8")
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "ours.yaml").write_text("description: x\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    return tmp_path


def _offered(line: str, typed: str, folder: Path) -> list[str]:
    """What Tab offers after ``line`` when ``typed`` stands there already."""
    bash = shutil.which("bash")
    if bash is None:
        unavailable("bash is not installed")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(
        [bash, "--norc", "-c", SCRIPT % line, "bash", typed],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=True,
    )
    return [word for word in ended.stdout.splitlines() if word]


def test_commands_and_their_subcommands(root: Path) -> None:
    assert {"build", "language", "seeds", "show"} <= set(_offered("adage", "", root))
    assert _offered("adage", "bui", root) == ["build"]
    assert _offered("adage build", "", root) == ["capr"]


def test_lang_offers_what_is_in_seeds(root: Path) -> None:
    offered = _offered("adage build capr --lang", "", root)
    assert {"xx", "am", "ja"} <= set(offered)
    assert _offered("adage build capr --lang", "x", root) == ["xx"]
    assert _offered("adage language check", "x", root) == ["xx"]


def test_profile_offers_what_is_in_profiles(root: Path) -> None:
    assert _offered("adage build capr --profile", "", root) == ["demo", "local", "ours", "paper"]
    assert _offered("adage show capr --lang ja --profile", "o", root) == ["ours"]


def test_another_root_is_looked_into(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert _offered(f"adage build capr --root {root} --lang", "x", elsewhere) == ["xx"]
    assert _offered("adage build capr --lang", "", elsewhere) == []


@pytest.mark.parametrize("path", LANG)
def test_every_lang_option_offers_languages(path: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert "xx" in _values(path, "--lang"), "use LangOption of flows/cli/options.py"


@pytest.mark.parametrize("path", PROFILE)
def test_every_profile_option_offers_profiles(path: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert "ours" in _values(path, "--profile"), (
        "use ProfileOption or LastProfileOption of flows/cli/options.py"
    )


def _values(path: str, option: str) -> list[str]:
    context = CONTEXTS[path]
    [param] = [param for param in context.command.params if option in param.opts]
    return [item.value for item in param.shell_complete(context, "")]
