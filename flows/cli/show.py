"""`adage show`: what the last finished run made."""

from __future__ import annotations

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LangOption, LastProfileOption, RootOption, open_root
from flows.cli.output import print_json, print_table, say

app = typer.Typer(
    cls=Group,
    help="Show what a finished run made.",
    epilog=examples("adage show capr --lang ja"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Show what a finished run made."""


@app.command(
    epilog=examples(
        "adage show capr --lang ja",
        "adage show capr --lang ja --profile local",
        "adage show capr --lang ja --json",
    )
)
def capr(
    lang: LangOption,
    profile: LastProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Show stages, rows, splits and calls of the last finished CAPR run."""
    from flows.runs import load_run
    from flows.screen import run_lines, run_table

    place = open_root(root)
    place.check_language(lang)
    summary = load_run(place.artifacts / "capr" / lang / "runs", profile)
    if as_json:
        print_json(summary.as_json)
        return
    print_table(run_table(summary))
    for line in run_lines(summary):
        say(line)
    say(f"report: {summary.report}")
