"""`adage doctor`: can this machine and these servers do what a profile asks?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from flows.cli.help import examples
from flows.cli.options import JsonOption, ProfileOption, RootOption, open_root
from flows.cli.output import print_json, print_table
from pipeline.errors import PrerequisiteError
from pipeline.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

    from flows.checkup import Checked


def doctor(profile: ProfileOption = "demo", as_json: JsonOption = False, root: RootOption = None) -> None:
    """Check disk, ledger and every model before a long build.

    Every model of the profile is really called, in each way its roles will ask it. For whatever fails it
    says what to type. Nothing is written to the ledger.
    """
    from flows.checkup import check_up
    from pipeline.profile import load_profile

    place = open_root(root)
    settings = load_profile(place.profile(profile), place.profiles())
    checked = []
    for thing in check_up(place, settings):
        checked.append(thing)
        if not as_json:
            typer.echo(f"{thing.subject}{' for ' if thing.roles else ''}{', '.join(thing.roles)}")
            print_table(_table(thing))
    findings = [finding for thing in checked for finding in thing.findings]
    failed = sum(not finding.ok for finding in findings)
    if as_json:
        print_json({"profile": profile, "ok": not failed, "checked": [asdict(thing) for thing in checked]})
    if failed:
        raise PrerequisiteError(
            f"{failed} of {len(findings)} checks of profile {profile} failed; what to do stands beside each"
        )
    if not as_json:
        typer.echo(f"all {len(findings)} checks of profile {profile} went well")


EXAMPLES = examples("adage doctor", "adage doctor --profile local", "adage doctor --profile local --json")


def _table(thing: Checked) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in thing.findings:
        mark = Text("  ok", style="green") if finding.ok else Text("FAIL", style="bold red")
        # What a server said may hold anything: nothing of it is markup.
        table.add_row(mark, finding.name, Text(visible(finding.detail)))
        if finding.fix not in ("", finding.detail):
            table.add_row("", "to do", Text(visible(finding.fix)))
    return table
