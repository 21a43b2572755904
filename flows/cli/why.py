"""`adage why`: one item's whole life."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.help import examples
from flows.cli.options import JsonOption, LangOption, LastProfileOption, RootOption, open_root
from flows.cli.output import print_json

if TYPE_CHECKING:
    from pathlib import Path

    from flows.runs import Summary
    from pipeline.capr.views import View
    from pipeline.llm.ledger_tools import StoredReply
    from pipeline.store.root import Root

EXAMPLES = examples(
    "adage why ja-9a20ead1 --lang ja",
    "adage why ja-9a20ead1.family --lang ja --profile local",
    "adage why ja-9a20ead1.family.5d41402a --lang ja --json",
)


def why(
    item: Annotated[
        str,
        typer.Argument(help="An item_id, scenario_id or proverb_id, rejected ones too.", show_default=False),
    ],
    lang: LangOption,
    profile: LastProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Tell one item's whole life: seed, label, cluster, scenario, numbers, options, judges, flags, split.

    Raw replies come from the call ledger, all attempts. What the last run does not know is looked for among
    the artifacts of builds that were stopped or replaced.
    """
    from flows.cli.life import life_lines
    from pipeline.capr.why import life
    from pipeline.language.language import load_language

    place = open_root(root)
    place.check_language(lang)
    where = f"{place.artifacts / 'capr' / lang}"
    found = life(
        item.strip(), _views(place, lang, profile), lambda rows: _replies(place, lang, profile, rows), where
    )
    if as_json:
        print_json(asdict(found))
        return
    for line in life_lines(found, load_language(place.language(lang)).direction):
        typer.echo(line)


def _views(place: Root, lang: str, profile: str | None) -> Iterator[View]:
    """The run asked for, then whatever else was built."""
    from pipeline.capr.views import other_views, view_of_run

    folder = place.stages("capr", lang)
    run, _ = _run_and_ledger(place, lang, profile)
    if run:
        keys = {stage["name"]: stage["key"] for stage in run.manifest["stages"]}
        source = f"the run of profile {run.manifest['profile']} finished {run.manifest['finished']}"
        yield view_of_run(folder, keys, source)
    yield from other_views(folder)


def _replies(place: Root, lang: str, profile: str | None, row_ids: Sequence[str]) -> list[StoredReply]:
    """What the run's ledger holds; a ledger that is not there holds nothing and is not made."""
    from pipeline.llm.ledger import Ledger, locate
    from pipeline.llm.ledger_tools import replies_for

    _, wanted = _run_and_ledger(place, lang, profile)
    file, _ = locate(wanted)
    if file and not file.exists():
        return []
    ledger = Ledger(wanted, look=True)
    try:
        return replies_for(ledger, row_ids)
    finally:
        ledger.close()


def _run_and_ledger(place: Root, lang: str, profile: str | None) -> tuple[Summary | None, str | Path]:
    """The last finished run (of a profile) and where its replies are; a build that was stopped has no run."""
    from flows.runs import find_run
    from pipeline.profile import load_profile

    run = find_run(place.artifacts / "capr" / lang / "runs", profile)
    if run:
        profile = run.manifest["profile"]
        wanted = run.manifest["profile_settings"]["ledger"]
        # A manifest tells no password, a URL without any or a file stands there whole.
        if ":***@" not in (wanted or ""):
            return run, place.ledger(wanted)
    settings = load_profile(place.profile(profile), place.profiles()) if profile else None
    return run, place.ledger(settings.ledger if settings else None)
