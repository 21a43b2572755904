"""How help is laid out: the tour of the commands, the examples under each, the exit codes."""

from __future__ import annotations

import inspect
import sys
import textwrap
from enum import StrEnum
from typing import Any

from typer.core import TyperGroup

from pipeline.errors import AdageError

WIDTH = 80
"""Columns that help, tables and docs/cli.md keep to."""


class Step(StrEnum):
    """Where a command stands in the work, in working order: its ``rich_help_panel``."""

    LANGUAGE = "Bring in your language"
    BEFORE = "Before a long build"
    BUILD = "Build"
    LOOK = "Look at what was made"
    KEEP = "Keep and share"


class Group(TyperGroup):
    """A group whose help lists its commands by step, in working order, each with its whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section a step; a command without a step comes first, under its own heading."""
        shown = [command for command in self.commands.values() if not command.hidden]
        for step in (None, *Step):
            rows = [
                # A sentence that needs a second line gets one: typer would cut it off.
                (command.name, command.get_short_help_str(sys.maxsize))
                for command in shown
                if _step(command) == step
            ]
            if rows:
                with formatter.section(step or "Commands"):
                    formatter.write_dl(rows)


class Tour(Group):
    """The group of all commands: its help begins with what to type first and ends with the exit codes."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """What it is, then what to type first."""
        super().format_help_text(ctx, formatter)
        super().format_epilog(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Every exit code."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exit_codes()])


def examples(*lines: str) -> str:
    """An epilog with these command lines; long ones are broken where a shell allows it."""
    shown = [part for line in lines for part in _broken(line)]
    # \b keeps the lines as they are.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in shown)])


def example_text(epilog: str | None) -> str:
    """The command lines of such an epilog; "" for any other."""
    head, _, lines = (epilog or "").partition("Examples:\n")
    return textwrap.dedent(lines) if head == "\b\n" else ""


def exit_codes() -> list[tuple[int, str]]:
    """Every exit code with its meaning, from the tree of errors."""
    found: dict[int, list[str]] = {
        0: ["All went well."],
        AdageError.exit_code: ["A mistake in adage itself."],
    }
    for kind in AdageError.__subclasses__():
        found.setdefault(kind.exit_code, []).append(inspect.cleandoc(kind.__doc__ or ""))
    return [(code, " ".join(meanings)) for code, meanings in sorted(found.items())]


def _step(command: Any) -> Step | None:
    """Typer gives a command without a panel a placeholder of its own."""
    return command.rich_help_panel if isinstance(command.rich_help_panel, Step) else None


def _broken(line: str) -> list[str]:
    room = WIDTH - 8
    if len(line) <= room:
        return [line]
    at = max(line.rfind(" -", 8, room), line.rfind(" ", 8, room) if " -" not in line[8:room] else -1)
    return [line] if at < 0 else [f"{line[:at]} \\", *_broken(f"    {line[at + 1 :]}")]
