"""`adage explain`: what a build would reuse, what it would do again and why, and its model calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

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
from flows.cli.text import paragraph

if TYPE_CHECKING:
    from pipeline.capr.explain import Explained

app = typer.Typer(
    cls=Group,
    help="Say what a build would reuse, what it would do again, and why.",
    epilog=examples("adage explain capr --lang ja"),
    no_args_is_help=True,
)

_DIGEST = 12


@app.callback()
def _group() -> None:
    """Say what a build would reuse, what it would do again, and why."""


@app.command(
    epilog=examples(
        "adage explain capr --lang ja",
        "adage explain capr --lang am --profile local --limit-proverbs 40",
        "adage explain capr --lang ja --json",
    )
)
def capr(
    lang: LangOption,
    profile: ProfileOption = "demo",
    limit_proverbs: LimitProverbsOption = None,
    limit_domains: LimitDomainsOption = None,
    drop_flagged: DropFlaggedOption = False,
    base: BaseOption = None,
    recluster: ReclusterOption = False,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Say for each CAPR stage whether a build would reuse it, what changed, and how many calls it takes.

    Takes the options of `adage build capr`. Changes are against the profile's last finished run. No model is
    called, no text is embedded and nothing is written; a stage that needs no call is worked out again in a
    temporary folder, so this may take as long as a build without calls.
    """
    import tempfile
    from pathlib import Path

    from flows.assembly import BuildRequest, assemble
    from flows.runs import find_run
    from flows.screen import Screen
    from pipeline.capr.explain import explain

    place = open_root(root)
    request = BuildRequest(
        lang=lang,
        profile=profile,
        limit_proverbs=limit_proverbs,
        limit_domains=limit_domains,
        root=str(place.path),
        drop_flagged=drop_flagged,
        base=base,
        recluster=recluster,
    )
    with tempfile.TemporaryDirectory(prefix="adage-") as folder:
        scratch = Path(folder)
        with assemble(request, Screen(), scratch) as assembly:
            run = find_run(place.artifacts / "capr" / lang / "runs", profile)
            last = run.manifest if run else {}
            explained = explain(assembly.runner, last.get("stage_parts", {}), scratch)
            name = assembly.language_name
    if as_json:
        print_json(_record(explained, lang, profile, last))
        return
    typer.echo(f"CAPR {name} ({lang}), profile {profile}: what a build would do now")
    for line in _lines(explained, last):
        typer.echo(line)


def _record(
    explained: Sequence[Explained], lang: str, profile: str, last: Mapping[str, Any]
) -> dict[str, Any]:
    stages = []
    for found in explained:
        row = asdict(found)
        calls, most = row.pop("calls"), row.pop("most")
        stages.append({**row, "calls": {"least": calls, "most": most}})
    return {
        "lang": lang,
        "profile": profile,
        "compared_with": last.get("finished"),
        "stages": stages,
        "calls": {"least": sum(f.calls for f in explained), "most": sum(f.most for f in explained)},
    }


def _lines(explained: Sequence[Explained], last: Mapping[str, Any]) -> list[str]:
    compared = f"the run finished {last['finished']}" if last else "nothing: this profile has no finished run"
    lines = [f"compared with {compared}", ""]
    for found in explained:
        calls = _calls(found.calls, found.most)
        lines.append(f"{found.stage:<14} {found.state:<8} {calls}".rstrip())
        if found.note and not (found.state == "miss" and found.changes):
            lines += paragraph(found.note, "    ")
        for change in found.changes:
            lines += paragraph(f"{change.component}: {_shown(change.old)} -> {_shown(change.new)}", "    ")
    total = _calls(sum(f.calls for f in explained), sum(f.most for f in explained)) or "no calls"
    explanation = (
        "The first number holds when every reply will do and what is unknown needs none, the second when "
        "each is asked again as often as the profile allows and nothing unknown is in the ledger."
    )
    return [
        *lines,
        "",
        f"model calls of a build: {total}",
        *(paragraph(explanation, "") if _spread(explained) else []),
    ]


def _spread(explained: Sequence[Explained]) -> bool:
    return any(found.calls != found.most for found in explained)


def _calls(least: int, most: int) -> str:
    if not most:
        return ""
    return f"{least} calls" if least == most else f"{least} to {most} calls"


def _shown(value: Any) -> str:
    """A side of a change: digests by their beginning, nothing as such."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else str(value)
    return text[:_DIGEST] if len(text) >= 2 * _DIGEST and text.isalnum() else text
