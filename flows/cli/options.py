"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.store.root import Root, find_root, shipped_root

RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root", help="Folder that holds seeds, profiles, prompts and artifacts.", show_default=False
    ),
]
LangOption = Annotated[str, typer.Option("--lang", "-l", help="Language code: a folder of seeds/.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def open_root(folder: Path | None) -> Root:
    """The root a command works in: the folder given, else the nearest one above the working directory."""
    return Root((folder or find_root(Path.cwd())).resolve(), shipped_root())
