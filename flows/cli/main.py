"""The command line `adage`."""

from __future__ import annotations

import sys

import typer

from flows.cli import build, language, seeds, show, splits
from pipeline.errors import AdageError

app = typer.Typer(
    name="adage",
    help="Turn a community's proverbs into a checked, reproducible benchmark for language models.",
    epilog="Start with: adage build capr --lang ja",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(build.app, name="build")
app.add_typer(seeds.app, name="seeds")
app.add_typer(language.app, name="language")
app.add_typer(show.app, name="show")
app.add_typer(splits.app, name="splits")


def main() -> None:
    """Run `adage`; a mistake of the user's is one paragraph and an exit code, never a traceback."""
    try:
        app()
    except AdageError as error:
        typer.echo(f"adage: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
