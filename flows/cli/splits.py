"""`adage splits`: splits that stay when seeds grow."""

from __future__ import annotations

from collections import Counter

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LangOption, LastProfileOption, RootOption, open_root
from flows.cli.output import print_json
from pipeline.errors import ConfigError
from pipeline.store.files import write_text

app = typer.Typer(
    cls=Group,
    help="Keep proverbs in the split they have.",
    epilog=examples("adage splits freeze capr --lang am"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Keep proverbs in the split they have."""


freeze = typer.Typer(
    cls=Group,
    help="Write the splits of a run to seeds/LANG/splits.csv.",
    epilog=examples("adage splits freeze capr --lang am"),
    no_args_is_help=True,
)
app.add_typer(freeze, name="freeze")


@freeze.callback()
def _freeze_group() -> None:
    """Write the splits of a run to seeds/LANG/splits.csv."""


@freeze.command(
    epilog=examples(
        "adage splits freeze capr --lang am",
        "adage splits freeze capr --lang am --profile paper --json",
    )
)
def capr(
    lang: LangOption,
    profile: LastProfileOption = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Freeze the splits of the last finished CAPR run; later builds keep them and place new proverbs only."""
    from flows.runs import load_run
    from pipeline.seeds.freezing import freeze_splits
    from pipeline.seeds.table import SPLIT_COLUMNS, csv_text, read_splits

    place = open_root(root)
    place.check_language(lang)
    manifest = load_run(place.artifacts / "capr" / lang / "runs", profile).manifest
    limit = manifest["limits"]["proverbs"]
    if limit is not None:
        raise ConfigError(
            f"the run of profile {manifest['profile']} was limited to {limit} proverbs: splits are shares of "
            "all proverbs, and these would stay for ever. Build with a profile without capr.acquire.limit "
            "and without --limit-proverbs, then freeze"
        )
    [curated] = [stage for stage in manifest["stages"] if stage["name"] == "curate"]
    file = place.splits(lang)
    before = read_splits(file)
    rows = freeze_splits(before, curated["facts"]["splits"], since=manifest["version"])
    write_text(file, csv_text(SPLIT_COLUMNS, rows))
    sizes = Counter(row["split"] for row in rows)
    added = len(rows) - len(before)
    if as_json:
        print_json({"table": str(file), "added": added, "proverbs": len(rows), "splits": dict(sizes)})
        return
    listed = ", ".join(f"{split} {sizes[split]}" for split in ("train", "validation", "test"))
    typer.echo(f"{file}: {added} proverbs frozen, {len(rows)} in all ({listed})")
