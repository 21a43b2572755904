"""What a person types, run in this process: `adage ...`, with its exit code and what it printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from flows.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Type = Callable[..., Ended]


@pytest.fixture(name="adage")
def adage_(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Type one command; ``adage("ledger", "stats")``."""

    def typed(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["adage", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "80")
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Ended(int(ended.value.code or 0), shown.out, shown.err)

    return typed
