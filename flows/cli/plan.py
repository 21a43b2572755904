"""`adage plan`: how many calls, tokens and hours a build will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.help import Group, examples
from flows.cli.options import BaseOption, JsonOption, LangOption, ProfileOption, RootOption, open_root
from flows.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from flows.planning import Plan

app = typer.Typer(
    cls=Group,
    help="Forecast calls, tokens and hours of a build.",
    epilog=examples("adage plan capr --lang ja --profile local"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Forecast calls, tokens and hours of a build."""


@app.command(
    epilog=examples(
        "adage plan capr --lang ja --profile local",
        "adage plan capr --lang zh --profile paper --pilot 32 --json",
        "adage plan capr --lang ja --base artifacts/capr/ja/runs/local --profile local",
    )
)
def capr(
    lang: LangOption,
    profile: ProfileOption = "demo",
    pilot: Annotated[
        int, typer.Option(min=8, help="Proverbs of the pilot; as many as calls run at once, or more.")
    ] = 12,
    limit_proverbs: Annotated[int | None, typer.Option(min=1, help="Of a build of N proverbs.")] = None,
    limit_domains: Annotated[int | None, typer.Option(min=1, max=10, help="Of a build of N domains.")] = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Forecast a CAPR build from a pilot: a few proverbs, one scenario each.

    The pilot really calls the models, for no more proverbs than the build has; its replies are kept, and
    those that the build needs are not asked for again.
    """
    from flows.assembly import BuildRequest
    from flows.planning import plan_capr
    from flows.screen import Screen

    request = BuildRequest(
        lang=lang,
        profile=profile,
        limit_proverbs=limit_proverbs,
        limit_domains=limit_domains,
        base=base,
        root=str(open_root(root).path),
    )
    with Screen() as screen:
        made = plan_capr(request, pilot, screen)
    if as_json:
        print_json(made.as_json)
        return
    print_table(table(made))
    for line in _notes(made):
        typer.echo(line)


def table(made: Plan) -> Table:
    """One line a role and the sum; what follows from the pilot only is marked with ~."""
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    rows.add_column("role", overflow="fold")
    for name in ("asks", "held", "calls", "tokens in", "out", "hours"):
        rows.add_column(name, justify="right", no_wrap=True)
    for role in (*made.roles, made.total):
        about = "~" if role.estimated else ""
        tokens = (_short(role.prompt_tokens), _short(role.completion_tokens))
        rows.add_row(
            Text(role.role),
            f"{about}{role.asks}",
            "?" if role.estimated and not role.held else str(role.held),
            *(f"{about}{count}" for count in (role.calls, *tokens)),
            f"{role.hours_low:.2f}-{role.hours_high:.2f}",
            style="bold" if role.role == "total" else "",
        )
    return rows


def _short(count: int) -> str:
    """A number of tokens in a few characters."""
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            return f"{count / unit:.1f}{letter}"
    return str(count)


def _notes(made: Plan) -> list[str]:
    from flows.screen import duration

    calls, total = made.pilot_calls, made.total
    notes = [
        f"From a pilot of {made.pilot_proverbs} proverbs with one scenario each "
        f"({calls['made']} calls made now, {calls['reused']} reused); held: answered by the ledger."
    ]
    judges_estimated = any(role.estimated for role in made.roles if role.role.startswith("judge"))
    if judges_estimated and made.pilot_proverbs and not made.pilot_items:
        notes.append(
            "The pilot made no item: its scenarios were all rejected. So nothing is known of the judges, and "
            "their calls come on top; try a larger --pilot, other limits in the profile or another model."
        )
    if total.estimated:
        notes.append(
            "~ follows from the pilot: the tables these asks come from do not exist yet, so what the ledger "
            "holds of them is not known."
        )
    low, high = (duration(3600 * hours) for hours in (total.hours_low, total.hours_high))
    notes.append(f"{total.calls} calls, {low} to {high} of model time; clustering and embedding come on top.")
    return notes
