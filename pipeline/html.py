"""Pages for people: one way to fill a template, so that no text of anybody's can be more than text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline.visible import visible


def html_templates(folder: Path) -> Environment:
    """The templates of a folder; every text they print is escaped, and what hides or turns text is shown."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Whatever a template prints goes through here last: no text can miss it.
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    return escape(visible(value)) if isinstance(value, str) and not isinstance(value, Markup) else value
