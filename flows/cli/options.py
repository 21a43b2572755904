"""Options that several commands share, and what a shell offers for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.errors import AdageError
from pipeline.store.root import Root, find_root, shipped_root


def offer_languages(ctx: typer.Context) -> list[str]:
    """Shell completion: the codes that stand in seeds/."""
    place = _root_typed(ctx)
    return place.languages() if place else []


def offer_profiles(ctx: typer.Context) -> list[str]:
    """Shell completion: the names that stand in profiles/."""
    place = _root_typed(ctx)
    return place.profiles() if place else []


def _in_working_folder(folder: str | None) -> str | None:
    """A folder as it is typed, from the working directory; a deployment's parameter is from the root."""
    return folder and str(Path(folder).absolute())


RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root", help="Folder that holds seeds, profiles, prompts and artifacts.", show_default=False
    ),
]
LangOption = Annotated[
    str,
    typer.Option("--lang", "-l", help="Language code: a folder of seeds/.", autocompletion=offer_languages),
]
LangArgument = Annotated[
    str,
    typer.Argument(
        help="Language code: a folder of seeds/.", autocompletion=offer_languages, show_default=False
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        "-p",
        help="Models, limits, thresholds: a file of profiles/.",
        autocompletion=offer_profiles,
    ),
]
LastProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        help="Which run to show; else the last finished one.",
        show_default=False,
        autocompletion=offer_profiles,
    ),
]
LedgerProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        help="Whose ledger, where a profile names its own; else artifacts/ledger.sqlite.",
        show_default=False,
        autocompletion=offer_profiles,
    ),
]
LimitProverbsOption = Annotated[int | None, typer.Option(min=1, help="Use the first N proverbs only.")]
LimitDomainsOption = Annotated[int | None, typer.Option(min=1, max=10, help="Use the first N domains only.")]
DropFlaggedOption = Annotated[bool, typer.Option(help="Leave items out that the jury flags.")]
BaseOption = Annotated[
    str | None,
    typer.Option(
        help="Grow this dataset: a finished run's folder. Old items stay.",
        show_default=False,
        callback=_in_working_folder,
    ),
]
ReclusterOption = Annotated[
    bool, typer.Option(help="With --base: new clusters and items, a new major version.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def open_root(folder: Path | None) -> Root:
    """The root a command works in: the folder given, else the nearest one above the working directory."""
    return Root((folder or find_root(Path.cwd())).resolve(), shipped_root())


def _root_typed(ctx: typer.Context) -> Root | None:
    """The root of a half-typed command; outside any root there is nothing to offer."""
    try:
        return open_root(ctx.params.get("root"))
    except AdageError:
        return None
