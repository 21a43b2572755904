"""`adage seeds`: people's tables in, one checked seed table out."""

from __future__ import annotations

import shutil
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LangOption, ProfileOption, RootOption, open_root
from flows.cli.output import print_json
from flows.cli.text import brief, paragraph
from pipeline.errors import ConfigError
from pipeline.store.files import canonical_json, write_text
from pipeline.store.root import Root
from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.seeds.importing import Imported
    from pipeline.seeds.table import SeedRow

_LONGEST_NAME = 40
"""Characters of a file of rejects' name: with four bytes each it fits into the 255 of a file system."""

app = typer.Typer(
    cls=Group,
    help="Bring in and check seed proverbs.",
    epilog=examples("adage seeds import proverbs.csv --lang sw --map text=Methali --map meaning=Maana"),
    no_args_is_help=True,
)


class Conflicts(StrEnum):
    """What becomes of a proverb that stands twice with different meanings."""

    MERGE = "merge"
    REJECT = "reject"


@app.callback()
def _group() -> None:
    """Bring in and check seed proverbs."""


@app.command(
    "import",
    epilog=examples(
        "adage seeds import proverbs.csv --lang sw --map text=Methali --map meaning=Maana",
        "adage seeds import words.json --lang ja --map text=japanese --map meaning_en=meaning.en",
        "adage seeds import one.xlsx two.tsv --lang am --conflicts reject --json",
    ),
)
def import_(
    files: Annotated[
        list[Path], typer.Argument(help="CSV, TSV, JSON, JSONL, XLSX or Parquet.", show_default=False)
    ],
    lang: LangOption,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", help="FIELD=COLUMN; say it once a field.", show_default=False)
    ] = None,
    conflicts: Annotated[Conflicts, typer.Option(help="One proverb, two meanings: keep both, or none.")] = (
        Conflicts.MERGE
    ),
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Add proverbs to seeds/LANG/proverbs.csv; every row that adds nothing is listed with its reason."""
    from pipeline.language.language import load_language
    from pipeline.seeds.importing import import_sheets
    from pipeline.seeds.readers import read_sheet
    from pipeline.seeds.table import read_seeds, write_seeds

    place = open_root(root)
    place.check_language(lang)
    language = load_language(place.language(lang))
    table = place.seeds(lang)
    existing = read_seeds(table, lang) if table.is_file() else []
    sheets = [read_sheet(file) for file in files]
    result = import_sheets(existing, sheets, _mapping(mapping or []), language, conflicts.value)
    write_seeds(table, result.rows)
    _keep_language_file(place, lang)
    rejects = _write_rejects(place, lang, files, result)
    if as_json:
        print_json(_record(result, table, rejects))
    else:
        _report(result, table, rejects, language.direction)


@app.command(
    epilog=examples(
        "adage seeds check --lang ja",
        "adage seeds check --lang ar --profile paper",
        "adage seeds check --lang am --json",
    )
)
def check(
    lang: LangOption,
    profile: ProfileOption = "demo",
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Say what the seeds are good for before a build: variants, weak meanings, clusters, intervals, calls.

    No language model is called. The profile's embedder is used only where it is the embedded one and few
    meanings are new to it.
    """
    from flows.cli.seed_findings import cheap_embedder, finding_lines
    from pipeline.capr.seed_check import check_seeds
    from pipeline.language.language import load_language
    from pipeline.profile import load_profile
    from pipeline.seeds.meaning import meaning_of
    from pipeline.seeds.table import read_seeds

    place = open_root(root)
    place.check_language(lang)
    language = load_language(place.language(lang))
    settings = load_profile(place.profile(profile), place.profiles())
    seeds = read_seeds(place.seeds(lang), lang)
    embedder, used = cheap_embedder(place, settings, [meaning_of(row, language)[0] for row in seeds])
    found = check_seeds(seeds, language, settings, embedder)
    if as_json:
        print_json({"lang": lang, "profile": profile, "used": used, **found.as_json()})
        return
    for line in [*finding_lines(found, language, profile), "", *paragraph(used, "")]:
        typer.echo(line)


def _mapping(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, separator, column = pair.partition("=")
        if not separator or not name or not column:
            raise ConfigError(f"--map {pair!r}: write FIELD=COLUMN, for example --map text=proverb")
        if found.get(name, column) != column:
            raise ConfigError(f"--map {name}: given twice, for {found[name]!r} and {column!r}; keep one")
        found[name] = column
    return found


def _keep_language_file(place: Root, lang: str) -> None:
    """A root with its own seeds keeps its own language file beside them, for people to correct."""
    own = place.path / "seeds" / lang / "language.yaml"
    if not own.is_file():
        shutil.copyfile(place.language(lang), own)


def _write_rejects(place: Root, lang: str, files: list[Path], result: Imported) -> Path | None:
    """A file named after all that were imported, numbered where another import's stands: none is lost."""
    from pipeline.seeds.table import csv_text

    if not result.rejected:
        return None
    rows = [
        {"place": r.row_id, "reason": r.reason, "details": canonical_json(dict(r.numbers))}
        for r in result.rejected
    ]
    text = csv_text(("place", "reason", "details"), rows)
    folder = place.artifacts / "imports" / lang
    name = "+".join(file.stem for file in files)[:_LONGEST_NAME]
    paths = (folder / f"{name}{f'.{n}' if n > 1 else ''}.rejected.csv" for n in count(1))
    path = next(p for p in paths if not p.exists() or p.read_bytes() == text.encode())
    write_text(path, text)
    return path


def _record(result: Imported, table: Path, rejects: Path | None) -> dict[str, object]:
    return {
        "table": str(table),
        "proverbs": len(result.rows),
        "added": result.added,
        "rejected": [{"place": r.row_id, "reason": r.reason, **r.numbers} for r in result.rejected],
        "rejected_file": rejects and str(rejects),
        "meanings_merged": [{"text": text, "places": [place, other]} for text, place, other in result.merged],
        "drafts_again": [{"proverb_id": row["proverb_id"], "text": row["text"]} for row in result.reopened],
        "variants": [
            {
                "proverb_id": row["proverb_id"],
                "text": row["text"],
                "of": of["proverb_id"],
                "of_text": of["text"],
                "similarity": similarity,
            }
            for row, of, similarity in result.variants
        ],
        "meanings_stood_in": result.stood_in,
        "contains_proverb": result.contains_proverb,
        "notes": list(result.notes),
    }


def _report(result: Imported, table: Path, rejects: Path | None, direction: str) -> None:
    def show(text: str) -> None:
        for line in paragraph(text, "  "):
            typer.echo(line)

    def named(row: SeedRow) -> str:
        return f"{brief(row['text'], direction)} [{row['source'] or row['proverb_id']}]"

    typer.echo(f"{table}: {len(result.rows)} proverbs, {result.added} new")
    reasons = sorted({r.reason for r in result.rejected})
    for reason in reasons:
        show(f"{sum(r.reason == reason for r in result.rejected)} rows {reason}")
    for text, place, other in result.merged:
        show(f"two meanings kept for {brief(text, direction)}: {place} and {other}")
    for row in result.reopened:
        show(f"reviewed before, a draft again because a meaning came to it: {named(row)}")
    conflicts = [r.numbers for r in result.rejected if r.reason == "conflict"]
    # Each row of a conflict is a rejection of its own; the person reads of the proverb once.
    for text, places in dict.fromkeys((c["text"], " and ".join(c["places"])) for c in conflicts):
        show(f"different meanings, not taken: {brief(text, direction)}: {places}")
    for row, of, similarity in result.variants:
        show(f"probable variant, shares its split: {named(row)} ~ {named(of)} ({similarity:.2f})")
    if result.stood_in:
        show(f"{result.stood_in} without a meaning in the language: the English one will stand in, marked")
    if result.contains_proverb:
        show(f"{result.contains_proverb} explanations contain their proverb (marked in the build)")
    for note in result.notes:
        show(visible(note))
    if rejects:
        typer.echo(f"  each row with its reason: {rejects}")
