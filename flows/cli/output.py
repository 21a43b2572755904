"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.table import Table

from pipeline.visible import visible


def say(text: str = "") -> None:
    """A line for people on stdout; characters that would turn text or steer the terminal are shown."""
    typer.echo(visible(text))


def print_json(data: object) -> None:
    """One JSON document on stdout, in the letters of its texts; UTF-8 whatever the terminal's encoding."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    # UTF-8 lacks lone surrogates, which a broken file name may hold: their escapes are JSON's too.
    typer.echo(text.encode(errors="backslashreplace"))


def print_table(table: Table) -> None:
    """A table as wide as the terminal, 80 columns elsewhere; styles on a terminal only, NO_COLOR is kept."""
    Console(highlight=False).print(table)
