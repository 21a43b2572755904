"""The page of real builds on the scripted server, read without a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.runs import Summary, load_run, stages_of, write_report
from pipeline.errors import StageError
from pipeline.visible import visible
from tests.flows.small import build, make_root
from tests.report.hostile import ATTACKS, SHOWN, write_hostile_seeds
from tests.report.html_text import read_html
from tests.servers.scripted import ScriptedServer


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def root(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_root(
        tmp_path_factory.mktemp("root"), server.address, acquire={"limit": None}, scenarios={"domains": 2}
    )
    write_hostile_seeds(root / "seeds" / "en" / "proverbs.csv")
    return root


@pytest.fixture(scope="module")
def run(root: Path) -> Summary:
    return build(root)[2]


def test_what_the_run_is_not_stands_first(run: Summary) -> None:
    text = " ".join(read_html(run.report.read_text("utf-8")).text.split())
    assert text.index("TEST scripted replies.") < 250
    assert text.index("DRAFT 16 of 16 proverbs are not reviewed") < 300


def test_a_seed_is_text_whatever_it_says(run: Summary) -> None:
    html = run.report.read_text("utf-8")
    page = read_html(html)
    text = " ".join(page.text.split())
    for shown in SHOWN:
        assert shown in text
    assert "49" not in re.findall(r"falls sooner or later (\S+)", text)
    assert page.elements["script"] == 1
    assert page.elements["img"] == page.elements["iframe"] == page.elements["link"] == 0
    assert page.elements["h1"] == 1
    assert not [name for name in page.attributes if name.startswith("on")]
    assert visible(html) == html


def test_nothing_is_loaded_from_elsewhere(run: Summary) -> None:
    html = run.report.read_text("utf-8")
    assert "default-src 'none'" in html
    assert set(re.findall(r"https?://[^\"' ]+", html)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.findall(r"""\b(?:src|href)="(?!#)""", html)


def test_no_two_elements_share_an_id(run: Summary) -> None:
    ids = re.findall(r'\bid="([^"]+)"', run.report.read_text("utf-8"))
    assert len(ids) == len(set(ids))


def test_a_report_is_written_anew_to_the_letter_without_a_call(
    root: Path, run: Summary, server: ScriptedServer
) -> None:
    first, calls = run.report.read_bytes(), len(server.requests)
    run.report.unlink()
    again = load_run(root / "artifacts" / "capr" / "en" / "runs", "test")
    write_report(again, stages_of(again, root / "artifacts" / "capr" / "en" / "stages"))
    assert run.report.read_bytes() == first
    assert len(server.requests) == calls


def test_a_stage_that_is_gone_is_named(root: Path, run: Summary, tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"stage acquire: .* is gone or altered since the run"):
        stages_of(run, tmp_path)


def test_terminal_and_language_page_show_the_seeds_as_text(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli.main", "language", "check", "en", "--root", str(root)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    html = (root / "artifacts" / "language" / "en.html").read_text("utf-8")
    page = read_html(html)
    for attack, shown in zip(ATTACKS, SHOWN, strict=True):
        assert shown in done.stdout
        assert shown in page.text
        assert attack == shown or attack not in done.stdout
    assert visible(done.stdout) == done.stdout
    assert visible(html) == html
    assert page.elements["script"] == page.elements["img"] == 0


def test_a_run_that_kept_no_scenario_says_so(server: ScriptedServer, tmp_path: Path) -> None:
    run = build(make_root(tmp_path, server.address, filter={"least_words": 119, "most_words": 120}))[2]
    assert run.manifest["items"] == 0
    text = " ".join(read_html(run.report.read_text("utf-8")).text.split())
    for said in ("0 four-option items", "too few words", "No item was judged.", "The run made no item."):
        assert said in text
    assert "Without items there is nothing to measure." in text


def test_every_chart_stands_beside_its_numbers(run: Summary) -> None:
    html = run.report.read_text("utf-8")
    page = read_html(html)
    names = re.findall(r'<svg [^>]*role="img"[^>]*aria-label="([^"]+)"', html)
    assert len(names) == page.elements["svg"] == 9
    assert names[1] == f"Silhouettes over the number of clusters; {_k(run)} was chosen."
    assert page.elements["caption"] == page.elements["table"]
    for gate in run.manifest["shortcuts"]:
        interval = f"{gate['low']:.0%} to {gate['high']:.0%}"
        assert f'>{gate["accuracy"]:.0%}</td><td class="n">{interval}</td>' in html


def _k(run: Summary) -> int:
    return next(int(stage["facts"]["k"]) for stage in run.manifest["stages"] if stage["name"] == "cluster")
