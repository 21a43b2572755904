"""Help, examples, JSON and exit codes of every command there is, and of those to come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from flows.cli import docs
from flows.cli.help import WIDTH, Step, example_text, examples, exit_codes
from flows.cli.main import app
from pipeline import errors
from tests.flows.command_tree import COMMANDS, CONTEXTS, GROUPS, command_lines, parse

NO_JSON = {"adage language new": "asks a person, and writes one file for people"}


def test_the_tree_is_walked() -> None:
    assert {"adage build capr", "adage seeds import", "adage language check"} <= set(COMMANDS)
    assert {"adage", "adage build", "adage seeds"} <= set(GROUPS)


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_help_shows_examples_that_can_be_typed(path: str) -> None:
    lines = command_lines(example_text(CONTEXTS[path].command.epilog))
    assert lines, f"{path} has no examples: give it epilog=examples(...) of flows/cli/help.py"
    for words in lines:
        assert " ".join(words).startswith(path), f"{words} is no example of {path}"
        parse(words)


def test_an_example_that_cannot_be_typed_is_caught() -> None:
    for wrong in ("adage build capr", "adage build capr --lang ja --limit 3", "adage bild capr --lang ja"):
        with pytest.raises(typer.TyperException):
            parse(wrong.split())


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_help_fits_eighty_columns(path: str) -> None:
    shown = CliRunner().invoke(app, [*path.split()[1:], "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert [line for line in shown.output.splitlines() if len(line) > WIDTH] == []
    assert "Examples:" in shown.output
    assert "\x1b" not in shown.output


@pytest.mark.parametrize("path", GROUPS)
def test_a_group_lists_its_commands_in_whole_sentences(path: str) -> None:
    shown = CliRunner().invoke(app, [*path.split()[1:], "--help"]).output
    _, _, below_usage = shown.partition("\n\n")
    assert "..." not in below_usage, "give the group cls=Group of flows/cli/help.py"
    for name in CONTEXTS[path].command.commands:
        assert f"\n  {name} " in below_usage


def test_long_examples_are_broken_where_a_shell_allows_it() -> None:
    line = "adage language new xx --name " + " --scenario ".join(["word"] * 12) + " " + "file " * 40
    text = example_text(examples(line))
    assert len(text.splitlines()) > 3
    assert all(len(part) <= WIDTH - 4 for part in text.splitlines())
    assert command_lines(text) == [line.split()]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_prints_json_for_programs(path: str) -> None:
    options = {option for param in CONTEXTS[path].command.params for option in param.opts}
    assert ("--json" in options) != (path in NO_JSON), f"{path} has no --json: use JsonOption"


def test_the_tour_shows_every_group_under_a_step_in_working_order() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    homeless = [
        name
        for name, command in CONTEXTS["adage"].command.commands.items()
        if command.rich_help_panel not in list(Step)
    ]
    assert homeless == [], "give rich_help_panel=Step.… where it is added in flows/cli/main.py"
    places = [shown.index(f"{step}:") for step in Step if f"{step}:" in shown]
    assert places == sorted(places)
    assert shown.index("adage build capr --lang ja") < places[0]
    for name in CONTEXTS["adage"].command.commands:
        assert f"\n  {name} " in shown


def test_every_exit_code_is_told_in_help_and_page(project: Path) -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.AdageError)} | {0}
    assert {code for code, _ in exit_codes()} == codes == {0, 1, 2, 3, 4, 5, 6, 7, 8, 130}
    shown = CliRunner().invoke(app, ["--help"]).output
    page = (project / "docs" / "cli.md").read_text(encoding="utf-8")
    for code, meaning in exit_codes():
        assert f"\n  {code} " in shown
        assert f"| {code} | {meaning} |" in page


def test_the_pages_made_from_the_code_are_not_stale() -> None:
    assert docs.stale() == [], "type: make docs"


def test_a_stale_page_is_told_with_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["docs", "--check"])
    with pytest.raises(SystemExit, match=r"docs/cli\.md.* is not what the code says: type make docs"):
        docs.main()
    monkeypatch.setattr(sys, "argv", ["docs"])
    docs.main()
    assert docs.stale() == []


def test_help_and_completion_load_nothing_heavy() -> None:
    heavy = "{'prefect', 'sklearn', 'scipy', 'numpy', 'pandas', 'pyarrow', 'sqlalchemy', 'ollama'}"
    code = f"import sys, flows.cli.main; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n", "import these inside the command that needs them"


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("build capr --lang qq", 2, "adage: unknown language 'qq': known are am, ar, "),
        ("build capr", 2, "adage: Missing option '--lang' / '-l'. To see what can be typed: "),
        (
            "bild",
            2,
            "adage: No such command 'bild'. Did you mean 'build'? To see what can be typed: adage --help",
        ),
        ("build capr --lang ja --limit-domains 11", 2, "adage: Invalid value for '--limit-domains': "),
        ("show capr --x", 2, "adage: No such option: --x. To see what can be typed: adage show capr --help"),
        ("show capr --lang ja --root {}", 2, "adage: no finished run in "),
        ("seeds import none.csv --lang ja --root {}", 2, "adage: "),
        ("language check qq --root {}", 2, "adage: unknown language 'qq'"),
    ],
)
def test_a_mistake_is_one_paragraph_on_stderr(typed: str, code: int, said: str, tmp_path: Path) -> None:
    ended = _adage(*typed.format(tmp_path).split())
    assert ended.returncode == code
    assert ended.stdout == ""
    assert ended.stderr.startswith(said), ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stderr.endswith("\n")


def test_a_group_alone_shows_its_help() -> None:
    ended = _adage("seeds")
    assert ended.returncode == 2
    assert "Bring in and check seed proverbs." in ended.stderr


def _adage(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows.cli.main", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
        check=False,
    )
