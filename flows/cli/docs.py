"""`python -m flows.cli.docs` writes the pages of docs/ made from the code; --check finds stale ones."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

from flows.cli.graph_picture import graph_picture
from flows.cli.help import example_text, exit_codes
from flows.cli.main import app
from pipeline.store.catalog import REJECTED, SCHEMAS
from pipeline.store.files import write_text
from pipeline.store.meanings import COLUMNS, TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def cli_page() -> str:
    """docs/cli.md: every command with its options and examples, and the exit codes."""
    codes = "\n".join(f"| {code} | {_cell(meaning)} |" for code, meaning in exit_codes())
    commands = "\n".join(_section(context) for context in every_command())
    return _CLI.format(codes=codes, commands=commands)


def tables_page() -> str:
    """docs/tables.md: every table of the catalog with its columns."""
    schemas = {**SCHEMAS, "rejected": REJECTED}
    return _TABLES.format(tables="\n".join(_table(name, schema) for name, schema in schemas.items()))


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "tables.md": tables_page,
    "images/graph.svg": graph_picture,
}
"""File of docs/ -> what makes its text."""


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


def _table(name: str, schema: pa.Schema) -> str:
    columns = "\n".join(f"| `{f.name}` | {_type(f.type)} | {_cell(COLUMNS[name][f.name])} |" for f in schema)
    return f"## {name}\n\n{TABLES[name]}\n\n| column | type | what it holds |\n|---|---|---|\n{columns}\n"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    return {"string": "text", "int32": "whole number", "double": "number", "bool": "true/false"}[str(kind)]


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

_TABLES = """# Tables

This page is made from `pipeline/store/catalog.py` by `make docs`. A stage writes one table of kept rows,
named after the stage, and one of rejected rows; kept and rejected together are the rows it expected.

| what | where, below `artifacts/capr/<lang>/` |
|---|---|
| a stage's tables, with a manifest | `stages/<stage>/<key>/kept.parquet`, `rejected.parquet` |
| the dataset of the last run | `runs/<profile>/dataset/train.parquet`, `validation.parquet`, `test.parquet` |
| its rejected rows, of all stages | `runs/<profile>/rejected.parquet` |
| which stages it is made of | `runs/<profile>/manifest.json` |
| the run as a page to read and print | `runs/<profile>/report.html` |

Parquet files open in pandas, DuckDB, Polars, R and many other tools:

```sh
python -c "import pandas; print(pandas.read_parquet('artifacts/capr/ja/runs/demo/dataset/train.parquet'))"
```

{tables}"""


if __name__ == "__main__":
    main()
