"""`python -m flows.cli.docs` writes the pages of docs/ made from the code; --check finds stale ones."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from flows.cli.help import example_text, exit_codes
from flows.cli.main import app
from pipeline.store.files import write_text

DOCS = Path(__file__).resolve().parents[2] / "docs"


def cli_page() -> str:
    """docs/cli.md: every command with its options and examples, and the exit codes."""
    codes = "\n".join(f"| {code} | {_cell(meaning)} |" for code, meaning in exit_codes())
    commands = "\n".join(_section(context) for context in every_command())
    return _CLI.format(codes=codes, commands=commands)


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli_page}
"""Page of docs/ -> what makes its text."""


def every_command() -> Iterator[Any]:
    """A context of every command and group, in the order of the help."""
    root = typer.main.get_command(app)
    yield from _below(root.make_context("adage", [], resilient_parsing=True))


def stale() -> list[str]:
    """The pages that differ from what the code says."""
    return [
        name
        for name, make in PAGES.items()
        if not (DOCS / name).is_file() or (DOCS / name).read_text(encoding="utf-8") != make()
    ]


def main() -> None:
    """Write the pages, or only check them."""
    if "--check" in sys.argv[1:]:
        if names := stale():
            sys.exit(f"docs/{', docs/'.join(names)} is not what the code says: type make docs")
        return
    for name, make in PAGES.items():
        write_text(DOCS / name, make())


def _below(context: Any) -> Iterator[Any]:
    yield context
    for name, command in getattr(context.command, "commands", {}).items():
        if not command.hidden:
            yield from _below(command.make_context(name, [], parent=context, resilient_parsing=True))


def _section(context: Any) -> str:
    command = context.command
    usage = " ".join(context.get_usage().removeprefix("Usage: ").split())
    parts = [f"## {context.command_path}", _prose(command.help), f"```text\n{usage}\n```"]
    records = [p.get_help_record(context) for p in command.get_params(context) if p.name != "help"]
    rows = [f"| `{_cell(name)}` | {_cell(meaning)} |" for name, meaning in filter(None, records)]
    if rows:
        parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    parts.append(f"```sh\n{example_text(command.epilog)}\n```")
    return "\n\n".join(parts) + "\n"


def _prose(text: str) -> str:
    """Help as Markdown: what help keeps line by line is shown so here."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```text\n{paragraph[2:]}\n```" if paragraph.startswith("\b\n") else paragraph
        for paragraph in paragraphs
    )


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


_CLI = """# The command line

This page is made from the code by `make docs`; it says what `adage --help` and `adage COMMAND --help` say.

What a program reads goes to stdout, what a person reads while a build runs to stderr. Colour is used on a
terminal only, and not at all when `NO_COLOR` is set. An error is one paragraph on stderr: what is wrong,
where, what to type.

## Completion

```sh
adage --install-completion
```

adds completion with the Tab key to the shell it is typed in (bash, zsh, fish, PowerShell); open a new
terminal afterwards. `--lang` then offers the folders of `seeds/`, `--profile` the files of `profiles/`.
`adage --show-completion` prints the script instead, for those who put it into place themselves.

## Exit codes

| code | meaning |
|---|---|
{codes}

{commands}"""


if __name__ == "__main__":
    main()
