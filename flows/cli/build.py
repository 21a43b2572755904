"""`adage build`: seeds in, benchmark out."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.assembly import BuildRequest, assemble
from flows.cli.options import LangOption, RootOption, open_root
from flows.environment import configure_prefect
from flows.screen import Screen

app = typer.Typer(help="Build a benchmark from seeds.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Build a benchmark from seeds."""


@app.command(epilog="Example: adage build capr --lang ja --profile demo --limit-proverbs 12")
def capr(
    lang: LangOption,
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="Models, limits, thresholds: profiles/.")
    ] = "demo",
    limit_proverbs: Annotated[int | None, typer.Option(min=1, help="Use the first N proverbs only.")] = None,
    limit_domains: Annotated[
        int | None, typer.Option(min=1, max=10, help="Use the first N domains only.")
    ] = None,
    drop_flagged: Annotated[bool, typer.Option(help="Leave items out that the jury flags.")] = False,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="Stop, resumably, after N model calls.")
    ] = None,
    max_hours: Annotated[float | None, typer.Option(min=0, help="Stop, resumably, after H hours.")] = None,
    base: Annotated[
        str | None,
        typer.Option(help="Grow this dataset: a finished run's folder. Old items stay.", show_default=False),
    ] = None,
    recluster: Annotated[
        bool, typer.Option(help="With --base: new clusters and items, a new major version.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --recluster: go on after saying what changes.")
    ] = False,
    root: RootOption = None,
) -> None:
    """Build the CAPR benchmark of one language: proverbs -> which proverb fits this scenario?"""
    place = open_root(root)
    request = BuildRequest(
        lang=lang,
        profile=profile,
        limit_proverbs=limit_proverbs,
        limit_domains=limit_domains,
        root=str(place.path),
        drop_flagged=drop_flagged,
        max_calls=max_calls,
        max_hours=max_hours,
        base=base,
        recluster=recluster,
    )
    # A mistake is said at once, not after a minute of starting Prefect.
    with Screen() as screen, assemble(request, screen) as assembly:
        if recluster and not yes:
            for stage in ("acquire", "label", "cluster"):
                screen.finish_stage(assembly.runner.run(stage))
            typer.echo(assembly.what_reclustering_changes())
            typer.echo("To go on, type the same command with --yes.")
            return
        configure_prefect(command_line=True)
    # Prefect reads its settings when it is imported, so it comes after them.
    from flows.started import run_flow

    run_flow(request)
