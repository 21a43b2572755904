"""`adage build`: seeds in, benchmark out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flows.cli.help import Group, examples
from flows.cli.options import (
    BaseOption,
    DropFlaggedOption,
    JsonOption,
    LangOption,
    LimitDomainsOption,
    LimitProverbsOption,
    ProfileOption,
    ReclusterOption,
    RootOption,
    open_root,
)
from flows.cli.output import print_json

app = typer.Typer(
    cls=Group,
    help="Build a benchmark from seeds.",
    epilog=examples("adage build capr --lang ja"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Build a benchmark from seeds."""


@app.command(
    epilog=examples(
        "adage build capr --lang ja",
        "adage build capr --lang am --limit-proverbs 12 --limit-domains 2",
        "adage build capr --lang ja --profile local --max-hours 8",
        "adage build capr --lang ja --base artifacts/capr/ja/runs/local --profile local",
        "adage build capr --lang ja --json > summary.json",
    )
)
def capr(
    lang: LangOption,
    profile: ProfileOption = "demo",
    limit_proverbs: LimitProverbsOption = None,
    limit_domains: LimitDomainsOption = None,
    drop_flagged: DropFlaggedOption = False,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="Stop, resumably, after N model calls.")
    ] = None,
    max_hours: Annotated[float | None, typer.Option(min=0, help="Stop, resumably, after H hours.")] = None,
    base: BaseOption = None,
    recluster: ReclusterOption = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --recluster: go on after saying what changes.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 7 when a shortcut's gate fails.")
    ] = False,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Build the CAPR benchmark of one language: proverbs -> which proverb fits this scenario?

    Stages that were built before are reused. A build that was stopped, by Ctrl-C, a limit or a power cut,
    goes on where it was when the same command is typed again.
    """
    from flows.environment import configure_prefect
    from flows.server import PrefectServer

    wanted: dict[str, Any] = {
        "lang": lang,
        "profile": profile,
        "limit_proverbs": limit_proverbs,
        "limit_domains": limit_domains,
        "root": str(open_root(root).path),
        "drop_flagged": drop_flagged,
        "max_calls": max_calls,
        "max_hours": max_hours,
        "base": base,
        "recluster": recluster,
        "strict": strict,
    }
    # Prefect reads its settings when it is imported, so it comes after them.
    configure_prefect(command_line=True)
    # Its server starts while the build is put together once, which says a mistake at once.
    with PrefectServer() as server:
        from flows.assembly import BuildRequest, assemble
        from flows.screen import Screen

        request = BuildRequest(**wanted)
        with Screen() as screen, assemble(request, screen) as assembly:
            if recluster and not yes:
                for stage in ("acquire", "label", "cluster"):
                    screen.finish_stage(assembly.run(stage))
                changes = assembly.what_reclustering_changes()
                if as_json:
                    print_json({"reclustering": changes, "built": False})
                else:
                    typer.echo(f"{changes}\nTo go on, type the same command with --yes.")
                return
        from flows.started import run_flow

        summary = run_flow(request, server)
    if as_json:
        print_json(summary)
