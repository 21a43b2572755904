"""Every command that README, CONTRIBUTING and docs/ tell a reader to type is run, or listed with why not.

A page's commands are run in order, as typed, in a folder like a clone's. The scripted server is the models;
the rest is real: the command line, Prefect's server, files.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from flows.build_capr import build_capr
from flows.server import PrefectServer
from pipeline.store.root import Root
from tests.docs.page import DOCS, PAGES, PROJECT, blocks, fences, lines
from tests.docs.root import make_reader_root, scripted, served_names, spreadsheet, write_profile
from tests.docs.spanish import spanish_responder
from tests.flows.command_tree import COMMANDS, CONTEXTS, command_lines, parse
from tests.servers.scripted import ScriptedServer

pytestmark = pytest.mark.timeout(900)

BIN = Path(sys.executable).parent


def _extra_exists(line: str) -> None:
    [extra] = re.findall(r"\[(\w+)\]", line)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"]


def _a_profile_names_it(line: str) -> None:
    texts = [file.read_text(encoding="utf-8") for file in (PROJECT / "profiles").glob("*.yaml")]
    models = [model for text in texts for model in yaml.safe_load(text)["models"].values()]
    assert line.split()[-1] in {model.get("model") for model in models}


def _prefect_knows_it(line: str) -> None:
    words = shlex.split(line)
    shown = subprocess.run([BIN / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True)
    assert " ".join(words[:3]) in shown.stdout


def _the_flow_takes_it(line: str) -> None:
    words = shlex.split(line)
    assert words[3] == f"{build_capr.name}/default"
    given = dict(word.split("=", 1) for word in words if "=" in word)
    assert set(given) <= set(inspect.signature(build_capr.fn).parameters)
    root = Root(PROJECT, PROJECT)
    assert given.get("lang", "ja") in root.languages()
    assert given.get("profile", "demo") in root.profiles()


def _it_parses(line: str) -> None:
    for words in command_lines(line):
        if words[0] == "adage":
            parse(words)


NOT_RUN: list[tuple[str, str, Callable[[str], None]]] = [
    (r"pip install -e '\.\[\w+\]'", "needs a package registry", _extra_exists),
    (r"ollama pull \S+", "needs Ollama's hub", _a_profile_names_it),
    (r"prefect server start", "does not end; tests/e2e/test_served.py starts it", _prefect_knows_it),
    (r"python -m flows\.serve", "does not end; tests/e2e/test_served.py starts it", lambda line: None),
    (r"prefect deployment run .*", "tests/e2e/test_served.py runs it on a server", _the_flow_takes_it),
    (r"adage --install-completion", "writes into the shell's own files", _it_parses),
]
"""Pattern of a line -> why it is not run here, and how it is checked instead."""

ONLY_PARSED = {"docs/cli.md": "examples of every command, with files of the reader's; its pages run them"}

TYPED = {
    "adage language new es": "Spanish\nespañol\nspa\n\nn\náéíóúüñ¿¡\n\n\n"
    "Situación\n¿Qué refrán se ajusta mejor?\nElija una opción entre {labels}.\nRespuesta\n"
}
"""Line -> what the reader answers to its questions."""


def _spreadsheets(root: Path, address: str) -> None:
    (root / "my-proverbs.csv").write_text(spreadsheet("Proverb", "Meaning"), encoding="utf-8")
    (root / "refranes.csv").write_text(blocks("docs/add-a-language.md", "csv")[0], encoding="utf-8")
    (root / "frases.txt").write_text(blocks("docs/add-a-language.md", "text")[0], encoding="utf-8")


def _own_profile(root: Path, address: str) -> None:
    profile = yaml.safe_load(blocks("docs/add-a-model-backend.md", "yaml")[0])
    write_profile(root, "mine", scripted(profile, address))


def _a_run_to_grow(root: Path, address: str) -> None:
    file = root / "profiles" / "local.yaml"
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    # Splits of a limited run cannot be frozen, so the seeds are few instead.
    profile["capr"]["acquire"]["limit"] = None
    write_profile(root, "local", profile)
    table = root / "seeds" / "en" / "proverbs.csv"
    table.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:25]) + "\n", encoding="utf-8")
    _run(root, "adage build capr --lang en --profile local")
    more = ["Proverb,Meaning", "A borrowed ladder is climbed slowly.,Others' things are used with care."]
    (root / "more.csv").write_text("\n".join(more) + "\n", encoding="utf-8")


def _a_run_to_open(root: Path, address: str) -> None:
    _run(root, "adage build capr --lang ja")


BEFORE: dict[str, Callable[[Path, str], None]] = {
    "README.md": _spreadsheets,
    "docs/add-a-language.md": _spreadsheets,
    "docs/add-a-model-backend.md": _own_profile,
    "docs/grow-a-dataset.md": _a_run_to_grow,
    "docs/tables.md": _a_run_to_open,
}
"""Page -> what its reader has made before, by other pages or by hand."""


@pytest.fixture(scope="module")
def models() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=served_names(), responders=[spanish_responder]) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _one_prefect_server() -> Iterator[None]:
    with PrefectServer() as server, server.connected():
        yield


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_can_be_typed(page: str, models: ScriptedServer, tmp_path: Path) -> None:
    root = make_reader_root(tmp_path, models.address)
    if page in BEFORE:
        BEFORE[page](root, models.address)
    for line in lines(page):
        check = next((check for pattern, _, check in NOT_RUN if re.fullmatch(pattern, line)), None)
        if page in ONLY_PARSED:
            check = check or _it_parses
        if check:
            check(line)
        else:
            _run(root, line)


def test_the_pages_of_docs_are_all_here() -> None:
    assert {"README.md", "docs/add-a-language.md", "docs/add-a-model-backend.md", "docs/cli.md"} <= set(PAGES)
    assert {"docs/gpu-box.md", "docs/grow-a-dataset.md", "docs/tables.md"} <= set(PAGES)
    assert set(BEFORE) | set(ONLY_PARSED) <= set(PAGES)


def test_what_is_not_run_is_still_on_a_page() -> None:
    typed = [line for page in PAGES for line in lines(page)]
    unused = [pattern for pattern, _, _ in NOT_RUN if not any(re.fullmatch(pattern, line) for line in typed)]
    assert unused == []


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page: str) -> None:
    known = {"sh", "yaml", "csv", "text", "json", "python"}
    assert [(kind, body) for kind, body in fences(page) if kind not in known] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_picture_leads_to_a_file(page: str) -> None:
    text = (PROJECT / page).read_text(encoding="utf-8")
    targets = [t.split("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in t]
    folder = (PROJECT / page).parent
    assert [target for target in targets if target and not (folder / target).is_file()] == []


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_text_exist_too(page: str) -> None:
    text = re.sub(r"```.*?```", "", (PROJECT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    for typed in re.findall(r"`((?:adage|make) [^`]+)`", text):
        words = typed.replace("COMMAND", "").split()
        if words[0] == "make":
            subprocess.run(["make", "--dry-run", *words[1:]], cwd=PROJECT, check=True, capture_output=True)
            continue
        path = next(p for n in range(len(words), 0, -1) if (p := " ".join(words[:n])) in CONTEXTS)
        context = CONTEXTS[path]
        known = {
            o for param in context.command.get_params(context) for o in (*param.opts, *param.secondary_opts)
        }
        assert {word for word in words if word.startswith("-")} <= known, typed
        # After a group comes a command of it, or options alone.
        assert path in COMMANDS or set(words[len(path.split()) :]) <= known, typed


def test_readme_leads_to_every_page_of_docs() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f"(docs/{page.name})" not in readme] == []


def _run(root: Path, line: str) -> None:
    """Type one line into a shell in the reader's folder."""
    # The environment of these tests is installed; make must not install it again through the links.
    line = re.sub(r"^make ", "make --old-file=.venv/ready --old-file=.venv/ready-dev ", line)
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=root,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "80"},
        input=TYPED.get(line, ""),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, f"{line}\n{ended.stdout}\n{ended.stderr}"
