"""`adage ledger`: look into the call ledger, carry it elsewhere, thin it out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LedgerProfileOption, RootOption, open_root
from flows.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline.llm.ledger import Ledger
    from pipeline.llm.ledger_tools import LedgerStats

app = typer.Typer(
    cls=Group,
    help="Every reply of every model: look, export, import, prune.",
    epilog=examples("adage ledger stats", "adage ledger export replies.jsonl"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Every reply of every model: look, export, import, prune."""


@app.command(epilog=examples("adage ledger stats", "adage ledger stats --profile local --json"))
def stats(profile: LedgerProfileOption = None, as_json: JsonOption = False, root: RootOption = None) -> None:
    """Show how many replies, tokens and hours the ledger holds of each model, and check it for damage."""
    from pipeline.llm.ledger_tools import stats as count_all

    with _opened(root, profile, look=True) as ledger:
        found = count_all(ledger)
    if as_json:
        print_json({**asdict(found), "replies": found.replies})
        return
    size = "" if found.size is None else f" ({found.size / 1e6:.1f} MB)"
    typer.echo(f"{found.place}{size}: {found.replies} replies")
    if found.models:
        print_table(_table(found))
    if found.events:
        listed = ", ".join(f"{kind} {count}" for kind, count in found.events.items())
        typer.echo(f"calls that got no reply at first: {listed}")


@app.command(epilog=examples("adage ledger export replies.jsonl", "adage ledger export all.jsonl -p local"))
def export(
    file: Annotated[Path, typer.Argument(help="Where they go; replaced when whole.", show_default=False)],
    profile: LedgerProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Write every reply as one line of JSON, to keep or to import elsewhere. No API key is in it."""
    from pipeline.llm.ledger_tools import export_ledger

    with _opened(root, profile, look=True) as ledger:
        count = export_ledger(ledger, file)
    if as_json:
        print_json({"file": str(file), "replies": count})
        return
    typer.echo(f"{file}: {count} replies")


@app.command(
    "import", epilog=examples("adage ledger import replies.jsonl", "adage ledger import all.jsonl -p local")
)
def import_(
    file: Annotated[Path, typer.Argument(help="What adage ledger export wrote.", show_default=False)],
    profile: LedgerProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Bring in an export: what it holds is never asked again here. Replies held already stay as they are."""
    from pipeline.llm.ledger_tools import import_ledger

    with _opened(root, profile, make=True) as ledger:
        place, done = ledger.place, import_ledger(ledger, file)
    if as_json:
        print_json({"ledger": place, **asdict(done)})
        return
    typer.echo(f"{place}: {done.added} replies added, {done.already_held} held already")
    if done.torn is not None:
        typer.echo(f"{file}, line {done.torn}: cut in the middle, dropped")


@app.command(
    epilog=examples(
        "adage ledger prune --before 2025-01-01",
        "adage ledger prune --model ollama:4c27e0f5b5ad --yes",
    )
)
def prune(
    model: Annotated[
        str | None,
        typer.Option(help="Of this model: how its name in adage ledger stats begins.", show_default=False),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Of before this day (UTC).", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    profile: LedgerProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Delete replies. What asks for them later pays for them again: finished builds do not."""
    from pipeline.llm.prune import Pruning, count
    from pipeline.llm.prune import prune as delete

    pruning = Pruning(model, f"{before:%Y-%m-%d}" if before else None)
    with _opened(root, profile) as ledger:
        replies, events = count(ledger, pruning)
        if not yes:
            typer.confirm(f"{ledger.place}: delete {replies} replies?", abort=True, err=True)
        replies, events = delete(ledger, pruning)
    if as_json:
        print_json({"ledger": ledger.place, "replies": replies, "events": events})
        return
    typer.echo(f"{ledger.place}: {replies} replies deleted")


@contextmanager
def _opened(
    folder: Path | None, profile: str | None, *, make: bool = False, look: bool = False
) -> Iterator[Ledger]:
    from pipeline.llm.ledger import Ledger
    from pipeline.profile import load_profile

    place = open_root(folder)
    wanted = load_profile(place.profile(profile), place.profiles()).ledger if profile else None
    ledger = Ledger(place.ledger(wanted), make=make, look=look)
    try:
        yield ledger
    finally:
        ledger.close()


def _table(found: LedgerStats) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("model", no_wrap=True, overflow="ellipsis", max_width=28)
    for name in ("replies", "tokens in", "tokens out", "hours"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last", no_wrap=True)
    for model in found.models:
        counts = (model.replies, model.prompt_tokens, model.completion_tokens)
        hours = f"{model.seconds / 3600:.2f}"
        table.add_row(Text(model.model), *(str(count) for count in counts), hours, model.last[:10])
    return table
