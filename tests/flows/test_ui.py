"""What Prefect's UI is given of a build, and that a build needs no UI."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.utilities.callables import parameter_schema

from flows.build_capr import build_capr
from flows.deployment import described_deployment
from flows.runs import Summary
from flows.ui import OneParagraph, StageProgress, artifact_key, failed, publish_summary, summary_text
from pipeline.errors import ConfigError, StageError


def _summary(folder: Path, **changed: Any) -> Summary:
    stage = {
        "name": "filter",
        "rows_expected": 36,
        "rows_kept": 30,
        "rows_rejected": 6,
        "reasons": {"too_few_words": 4, "overlap": 2},
        "cached": False,
        "calls": {},
        "seconds": 0.94,
    }
    manifest = {
        "family": "capr",
        "lang": "ja",
        "profile": "demo",
        "notices": ["DEMO: <script>alert(1)</script> [a](b) {{7*7}} | x"],
        "items": 30,
        "splits": {"train": 22, "validation": 4, "test": 4},
        "flagged": 2,
        "calls": {"made": 3, "reused": 1},
        "stages": [stage],
    }
    return Summary(folder, {**manifest, **changed})


def test_the_stage_table_with_the_report_and_no_markup_from_texts(tmp_path: Path) -> None:
    text = summary_text(_summary(tmp_path))
    assert "report.html" not in text
    (tmp_path / "report.html").write_text("<p>", encoding="utf-8")
    text = summary_text(_summary(tmp_path))
    assert f"- report: [report.html](file://{tmp_path}/report.html), `{tmp_path}/report.html`" in text
    assert r"| filter | 36 | 30 | 6 | too\_few\_words 4, overlap 2 | new | 0.9 |" in text
    assert r"> DEMO: &lt;script&gt;alert(1)&lt;/script&gt; \[a\](b) {{7\*7}} \| x" in text
    assert "30 items (train 22, validation 4, test 4); 2 flagged. Model calls: 3 made, 1 reused." in text


def test_keys_have_the_letters_prefect_allows() -> None:
    assert artifact_key("capr-ja-name_clusters") == "capr-ja-name-clusters"
    assert artifact_key("capr-zh-Hans-My_Profile.2") == "capr-zh-hans-my-profile-2"


@pytest.fixture
def api_away() -> Iterator[None]:
    settings = {PREFECT_API_URL: "http://127.0.0.1:9/api", PREFECT_CLIENT_MAX_RETRIES: 0}
    with temporary_settings(settings):
        yield


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning", "ignore::FutureWarning")
def test_a_build_goes_on_when_the_api_is_away(api_away: None, tmp_path: Path) -> None:
    before = threading.active_count()
    with StageProgress("capr-en-label", seconds=0.01) as progress:
        for done in range(200):
            progress.advance(done, 200, "")
            threading.Event().wait(0.001)
    assert threading.active_count() == before
    publish_summary(_summary(tmp_path))


def test_telling_progress_asks_nothing_of_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """Model calls tell their progress; only the thread of the artifact may wait for the API."""
    threads = []
    monkeypatch.setattr(
        StageProgress, "_put", lambda self, *told: threads.append((threading.current_thread(), told))
    )
    with StageProgress("capr-en-label", seconds=0.05) as progress:
        for done in range(10_000):
            progress.advance(done + 1, 10_000, "")
        threading.Event().wait(0.2)
    assert {thread is threading.current_thread() for thread, _ in threads} == {False}
    assert 1 <= len(threads) < 20
    assert threads[-1][1][1:3] == (10_000, 10_000)


def test_a_stage_shorter_than_an_update_makes_no_artifact(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(StageProgress, "_put", lambda self, *words: told.append(words))
    with StageProgress("capr-en-label", seconds=600) as progress:
        progress.advance(1, 1, "")
    assert told == []


def test_a_failed_state_says_the_paragraph_and_keeps_the_error() -> None:
    error = StageError("too few proverbs: type adage seeds import")
    assert failed(error).message == str(error)
    assert failed(error).data is error


def test_a_mistake_is_logged_as_its_paragraph_and_a_bug_with_its_traceback() -> None:
    records = []
    for error in (ConfigError("unknown language"), ValueError("a bug")):
        try:
            raise error
        except (ConfigError, ValueError):
            record = logging.LogRecord("x", logging.ERROR, "x", 1, "Engine", (), sys.exc_info())
        assert OneParagraph().filter(record)
        records.append((record.getMessage(), record.exc_info is None))
    assert records == [("unknown language", True), ("Engine", False)]


def test_parameters_offer_what_the_root_has_and_explain_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    (tmp_path / "seeds" / "xx").mkdir(parents=True)
    (tmp_path / "seeds" / "xx" / "language.yaml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    properties = parameter_schema(build_capr).properties
    assert "xx" in properties["lang"]["enum"]
    assert properties["profile"]["enum"] == ["demo", "local", "paper"]
    assert [name for name, said in properties.items() if not said.get("description")] == []
    monkeypatch.chdir("/")
    assert "enum" not in parameter_schema(build_capr).properties["lang"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deployments: []", "no list `deployments` with one entry"),
        (
            "deployments: [{name: default, schedules: [{corn: '0 3 * * 0'}]}]",
            "{'corn': '0 3 * * 0'} is no schedule",
        ),
        ("deployments: [{name: default, schedules: [{cron: 'at night'}]}]", "is no schedule"),
    ],
)
def test_a_wrong_deployment_file_says_what_to_write(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "prefect.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"prefect\.yaml") as caught:
        described_deployment(tmp_path / "prefect.yaml")
    assert said in str(caught.value)
