"""`adage calibrate`: the similarity caps of a language under a profile's embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from flows.cli.help import examples
from flows.cli.options import JsonOption, LangOption, ProfileOption, RootOption, open_root
from flows.cli.output import print_json
from flows.cli.text import paragraph

if TYPE_CHECKING:
    import pyarrow as pa

    from pipeline.capr.calibrate import Calibration
    from pipeline.store.root import Root

EXAMPLES = examples(
    "adage calibrate --lang ja",
    "adage calibrate --lang ar --profile local",
    "adage calibrate --lang am --json",
)

_BARS = 12
_BAR_WIDTH = 40


def calibrate(
    lang: LangOption,
    profile: ProfileOption = "demo",
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Print the similarity caps as a build decides them, with the similarities they come from.

    Over all seeds of the language, whatever the profile's limits; pairs with scenarios once a build has
    written some. Uses the profile's embedder and no language model. A build on a base dataset keeps the
    base's caps.
    """
    from flows.backends import Backends
    from pipeline.capr.calibrate import calibrate
    from pipeline.embed.cache import CachedEmbedder
    from pipeline.language.language import load_language
    from pipeline.profile import load_profile
    from pipeline.seeds.table import read_seeds

    place = open_root(root)
    place.check_language(lang)
    language = load_language(place.language(lang))
    settings = load_profile(place.profile(profile), place.profiles())
    seeds = read_seeds(place.seeds(lang), lang)
    scenarios, source = _scenarios(place, lang, profile)
    embedder = CachedEmbedder(Backends.embedder(settings.embedder), place.artifacts / "vectors.sqlite")
    found = calibrate(seeds, scenarios, language, embedder, settings)
    if as_json:
        kinds = {c.kind: {name: value for name, value in asdict(c).items() if name != "kind"} for c in found}
        about = {"lang": lang, "profile": profile, "embedder": embedder.name, "scenarios": source}
        print_json({**about, "seeds": len(seeds), "kinds": kinds})
        return
    typer.echo(f"{language.name} ({lang}), profile {profile}: similarity caps over all {len(seeds)} seeds")
    for line in [*paragraph(f"embedder {embedder.name}; scenarios: {source}", ""), "", *_lines(found)]:
        typer.echo(line)


def _scenarios(place: Root, lang: str, profile: str) -> tuple[pa.Table, str]:
    """The scenarios of the profile's last run, else the newest there are, else none; and which these are."""
    from flows.runs import find_run
    from pipeline.store.catalog import SCHEMAS
    from pipeline.store.stages import artifacts, open_artifact

    folder = place.stages("capr", lang)
    run = find_run(folder.parent / "runs", profile)
    if run:
        [key] = [stage["key"] for stage in run.manifest["stages"] if stage["name"] == "scenarios"]
        artifact = open_artifact(folder / "scenarios" / key)
        if artifact:
            return artifact.ref.table(), f"the run finished {run.manifest['finished']}"
    for artifact in artifacts(folder, "scenarios"):
        return artifact.ref.table(), f"scenarios/{artifact.ref.key}, the newest there are"
    return SCHEMAS["scenarios"].empty_table(), "none, there is no build yet"


def _lines(found: Sequence[Calibration]) -> list[str]:
    lines = [_row("pairs of", ("pairs", "median", "99.5 %", "above 0.85", "calibrated", "in force"))]
    for c in found:
        share = f"{c.above_paper_cap / c.pairs:.1%}" if c.pairs else "-"
        numbers = (_shown(c.median), _shown(c.quantile), share, _shown(c.calibrated), _shown(c.in_force))
        lines.append(_row(c.kind.replace("_", "-"), (str(c.pairs), *numbers)))
    for c in found:
        if c.pairs:
            lines += ["", f"{c.kind.replace('_', '-')}", *_bars(c)]
    few = [c.kind.replace("_", "-") for c in found if c.quantile is None]
    if few:
        lines += ["", *paragraph(f"Below 200 pairs the cap is the paper's 0.85: {', '.join(few)}.", "")]
    if any(c.thinned > 1 for c in found):
        lines += ["", "Very many pairs: only every n-th row was compared (--json says which n)."]
    return lines


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<16}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(cells, (11, 9, 9, 12, 12, 11), strict=True)
    )


def _bars(c: Calibration) -> list[str]:
    """A bar for every so many bins of 0.01, so that there are at most a dozen."""
    joined = -(-len(c.counts) // _BARS)
    sums = [sum(c.counts[at : at + joined]) for at in range(0, len(c.counts), joined)]
    lines = []
    for at, count in enumerate(sums):
        low = c.low + at * joined / 100
        bar = "#" * round(_BAR_WIDTH * count / max(sums))
        lines.append(f"  {low:5.2f} to {low + joined / 100:5.2f} {count:>10} {bar}".rstrip())
    return lines


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
