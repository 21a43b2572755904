"""What is printed fits the terminal in every script, and is coloured on a terminal only."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from flows.cli.output import print_json
from flows.runs import FORMAT, Summary
from flows.screen import Screen, run_table
from pipeline.capr.graph import STAGES

WIDE = ["理由がとても長い場合の説明文" * 3, "ምክንያቱ_በጣም_ረጅም_ነው" * 3, "سبب طويل جدا", "no_near_match_candidate"]


def _manifest() -> dict[str, object]:
    stages = [
        {
            "name": name,
            "rows_expected": 13_750_000 + place,
            "rows_kept": 12_000_000 + place,
            "rows_rejected": 1_750_000,
            "reasons": dict.fromkeys(WIDE, 400_000) if place % 2 else {},
            "cached": place == 0,
            "calls": {"made": 40_923_000, "reused": 0},
            "facts": {"selected": 1_375_000, "in_base": 0, "domains": ["family"] * 10},
        }
        for place, name in enumerate(STAGES)
    ]
    counts = {"items": 3, "splits": {"train": 1, "validation": 1, "test": 1}, "flagged": 0}
    return {
        "format": FORMAT,
        "stages": stages,
        "finished": "2026-01-01T00:00:00+00:00",
        "profile": "demo",
        "notices": ["DRAFT"],
        "shortcuts": [],
        "calls": {"made": 1, "reused": 0},
        **counts,
    }


@pytest.mark.parametrize("width", [80, 60, 50])
def test_the_stage_table_fits_and_loses_nothing(width: int, tmp_path: Path) -> None:
    out = io.StringIO()
    Console(width=width, file=out).print(run_table(Summary(tmp_path, _manifest())))
    shown = out.getvalue()
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert "…" not in shown
    for count in ("400000", "1750000"):
        assert len(re.findall(rf"(?<!\d){count}(?!\d)", shown)) >= 4
    if width == 80:
        for name in STAGES:
            assert re.search(rf"^{name} ", shown, re.MULTILINE)
        assert "13750001 12000001" in re.sub(r" +", " ", shown)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    run = tmp_path / "artifacts" / "capr" / "ja" / "runs" / "demo"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text(json.dumps(_manifest()), encoding="utf-8")
    return tmp_path


def _show(root: Path, *, terminal: bool, **environment: str) -> str:
    """What `adage show` writes to a pipe or to a terminal."""
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "flows.cli.main", "show", "capr", "--lang", "ja", "--root", str(root)]
    settings = {**clean, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    if not terminal:
        return subprocess.run(command, capture_output=True, text=True, env=settings, check=True).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=settings) as running:
        os.close(theirs)
        shown = b"".join(_read(ours))
        assert running.wait() == 0, shown
    return shown.decode()


def _read(terminal: int) -> Iterator[bytes]:
    try:
        while part := os.read(terminal, 65_536):
            yield part
    except OSError:  # Linux says so that the other end is closed: all is read
        pass
    finally:
        os.close(terminal)


def test_a_pipe_gets_plain_text(root: Path) -> None:
    shown = _show(root, terminal=False)
    assert "scenarios" in shown
    assert "\x1b" not in shown


def test_a_terminal_gets_styles_and_no_color_is_kept(root: Path) -> None:
    assert "\x1b[1m" in _show(root, terminal=True)
    coloured = re.compile(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38;|48;)")
    assert not coloured.search(_show(root, terminal=True, NO_COLOR="1"))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_letter_that_the_output_lacks_is_written_as_its_number(root: Path, encoding: str) -> None:
    shown = _show(root, terminal=False, COLUMNS="200", PYTHONIOENCODING=encoding)
    assert r"\u7406\u7531" in shown


def test_json_is_utf8_whatever_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    print_json([*WIDE, "a file name that is no text: \udce9"])
    assert json.loads(written.getvalue()) == [*WIDE, "a file name that is no text: \udce9"]
    assert WIDE[0].encode() in written.getvalue()


def test_the_clock_of_a_stage_goes_on_and_each_judge_has_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0]
    for clock in ("time.monotonic", "rich.console.monotonic"):
        monkeypatch.setattr(clock, lambda: seconds[0])
    screen = Screen()
    screen.begin_stage("judge")
    for done, later in ((18, 60), (0, 0), (9, 60)):
        seconds[0] += later
        screen.advance(done, 18, "")
    shown = io.StringIO()
    Console(file=shown, width=80).print(screen._progress.get_renderable())
    assert "9/18 9/min" in shown.getvalue()
    assert "0:02:00" in shown.getvalue()
