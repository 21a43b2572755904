"""`adage report`: a finished run's page, written anew."""

from __future__ import annotations

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LangOption, LastProfileOption, RootOption, open_root
from flows.cli.output import print_json, say

app = typer.Typer(
    cls=Group,
    help="Write a finished run's page anew.",
    epilog=examples("adage report capr --lang ja"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Write a finished run's page anew."""


@app.command(epilog=examples("adage report capr --lang ja", "adage report capr --lang ja --profile local"))
def capr(
    lang: LangOption,
    profile: LastProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Write report.html of the last finished CAPR run beside its manifest; no model is called."""
    from flows.runs import load_run, stages_of, write_report

    place = open_root(root)
    place.check_language(lang)
    summary = load_run(place.artifacts / "capr" / lang / "runs", profile)
    written = str(write_report(summary, stages_of(summary, place.stages("capr", lang))))
    if as_json:
        print_json({"profile": summary.manifest["profile"], "report": written})
        return
    say(f"report: {written}")
