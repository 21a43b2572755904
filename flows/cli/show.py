"""`adage show`: what the last finished run made."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from flows.cli.options import JsonOption, LangOption, RootOption, open_root
from flows.runs import load_run
from flows.screen import run_lines, run_table

app = typer.Typer(help="Show what a finished run made.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Show what a finished run made."""


@app.command(epilog="Example: adage show capr --lang ja --json")
def capr(
    lang: LangOption,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="Default: the last finished run.")
    ] = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Show stages, rows, splits and calls of the last finished CAPR run."""
    place = open_root(root)
    place.check_language(lang)
    summary = load_run(place.artifacts / "capr" / lang / "runs", profile)
    if as_json:
        typer.echo(json.dumps(summary.as_json, ensure_ascii=False, indent=2))
        return
    Console(highlight=False).print(run_table(summary))
    for line in run_lines(summary):
        typer.echo(line)
