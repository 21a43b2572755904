"""Texts of any script in a terminal: wrapped by what they take up, right-to-left ones set apart."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from flows.cli.help import WIDTH
from pipeline.visible import visible

_CONSOLE = Console(width=WIDTH)
_ISOLATE, _END = "\u2068", "\u2069"
_BRIEF = 120
"""Characters of a stored text that a list shows: enough to know it by."""


def isolated(text: str, direction: str) -> str:
    """A stored text, between marks that keep its direction from turning what stands around it."""
    shown = visible(text)
    return f"{_ISOLATE}{shown}{_END}" if direction == "rtl" else shown


def brief(text: str, direction: str) -> str:
    """``isolated`` for an entry of a list: a cell may hold pages."""
    return isolated(text if len(text) <= _BRIEF else f"{text[:_BRIEF]}...", direction)


def paragraph(text: str, first: str) -> list[str]:
    """``first`` and then our own words, in lines that fit, all indented alike."""
    return _laid_out(_wrapped(text, first), first)


def quoted(text: str, first: str, direction: str = "ltr") -> list[str]:
    """``first`` and then a stored text, each line of it set apart, in lines that fit, all indented alike."""
    return _laid_out([isolated(line, direction) for line in _wrapped(visible(text), first)], first)


def _wrapped(text: str, first: str) -> list[str]:
    """A Japanese character takes up two columns, a vowel mark none."""
    lines = Text(text).wrap(_CONSOLE, WIDTH - Text(first).cell_len, tab_size=4)
    return [str(line).rstrip() for line in lines] or [""]


def _laid_out(lines: list[str], first: str) -> list[str]:
    indent = " " * Text(first).cell_len
    return [f"{first}{lines[0]}".rstrip(), *(f"{indent}{line}".rstrip() for line in lines[1:])]
