"""Texts of any script in a terminal: wrapped by what they take up, right-to-left ones set apart."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from flows.cli.help import WIDTH
from pipeline.visible import visible

_CONSOLE = Console(width=WIDTH)
_ISOLATE, _END = "\u2068", "\u2069"


def isolated(text: str, direction: str) -> str:
    """The text, between marks that keep its direction from turning what stands around it.

    Marks of its own that would, and characters that steer a terminal, are shown as their code points.
    """
    return _apart(visible(text), direction)


def paragraph(text: str, first: str, direction: str = "ltr", width: int = WIDTH) -> list[str]:
    """``first`` and then the text, in lines of at most ``width`` columns, all indented alike.

    A Japanese character takes up two columns, a vowel mark none.
    """
    indent = Text(first).cell_len
    lines = Text(text).wrap(_CONSOLE, width - indent)
    shown = [_apart(str(line).rstrip(), direction) for line in lines] or [""]
    return [f"{first}{shown[0]}", *(f"{' ' * indent}{line}" for line in shown[1:])]


def _apart(text: str, direction: str) -> str:
    return f"{_ISOLATE}{text}{_END}" if direction == "rtl" else text
