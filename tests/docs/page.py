"""Reads README and the pages of docs/ as their reader would: the files to make, the commands to type."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted(DOCS.glob("*.md")))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str, kind: str) -> list[str]:
    """The fenced blocks of one kind, in order."""
    return [body for language, body in fences(page) if language == kind]


def fences(page: str) -> list[tuple[str, str]]:
    """Every fenced block with what it is tagged as."""
    return _BLOCK.findall((PROJECT / page).read_text(encoding="utf-8"))


def lines(page: str) -> list[str]:
    """Every command line of the page's sh blocks, continuations joined."""
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    return [
        " ".join(line.split()) if "'" not in line and '"' not in line else line.strip()
        for line in text.splitlines()
        if line.strip()
    ]


def commands(page: str) -> list[list[str]]:
    """The same, split as a shell would."""
    return [shlex.split(line) for line in lines(page)]
