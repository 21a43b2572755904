"""Reads a page of docs/ as its reader would: the files to make, the commands to type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(name: str, kind: str) -> list[str]:
    """The fenced blocks of one kind, in order."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return [body for language, body in _BLOCK.findall(text) if language == kind]


def commands(name: str) -> list[list[str]]:
    """Every command of the page's sh blocks, split as a shell would."""
    lines = "".join(blocks(name, "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.strip()]
