"""The command tree of `adage`, as tests walk it."""

from __future__ import annotations

import re
import shlex
from typing import Any

import typer

from flows.cli.docs import every_command
from flows.cli.main import app

CONTEXTS = {context.command_path: context for context in every_command()}
GROUPS = [path for path, context in CONTEXTS.items() if hasattr(context.command, "commands")]
COMMANDS = [path for path in CONTEXTS if path not in GROUPS]


def command_lines(text: str) -> list[list[str]]:
    """Every command of a shell text, split as a shell would; pipes and redirections end a command."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        for part in re.split(r"\|\|?|&&|;", line.split(" #")[0]):
            words = shlex.split(part)
            cut = next((i for i, word in enumerate(words) if word.startswith(">")), len(words))
            if words[:cut]:
                found.append(words[:cut])
    return found


def parse(words: list[str]) -> Any:
    """The context of a typed `adage` line, nothing run; a mistake in it is typer's own exception."""
    assert words[0] == "adage"
    command, path, rest = typer.main.get_command(app), "adage", words[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command, path, rest = command.commands[rest[0]], f"{path} {rest[0]}", rest[1:]  # type: ignore[attr-defined]
    if hasattr(command, "commands"):
        # Its options act as soon as they are parsed (--install-completion writes a file): only named here.
        context = command.make_context(path, list(rest), resilient_parsing=True)
        known = {option for param in command.get_params(context) for option in param.opts}
        if not set(rest) <= known:
            raise typer.BadParameter(f"{path} has no {' '.join(rest)}")
        return context
    return command.make_context(path, list(rest))
