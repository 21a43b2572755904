"""What Prefect's UI shows of a build besides its tasks: progress, the stage table, why a run failed."""

from __future__ import annotations

import logging
import re
import threading
from contextlib import suppress
from contextvars import copy_context
from html import escape
from types import TracebackType
from typing import Any, cast
from uuid import UUID

import httpx
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.client.schemas import State
from prefect.exceptions import PrefectException
from prefect.states import Failed

from flows.runs import Summary, made_from
from pipeline.errors import AdageError

SECONDS_BETWEEN_UPDATES = 5.0
_SECONDS_FOR_THE_LAST = 5.0
_API_AWAY = (httpx.HTTPError, PrefectException)


class StageProgress:
    """A progress artifact of the running task, for stages that take longer than one update's time.

    A thread of its own talks to the API, so that no model call waits for it; when the API is away the stage
    goes on, and the next update may get through.
    """

    def __init__(self, key: str, seconds: float = SECONDS_BETWEEN_UPDATES) -> None:
        self._key = artifact_key(key)
        self._seconds = seconds
        self._latest: tuple[int, int, str] | None = None
        self._over = threading.Event()
        # The thread needs the task's context, so that the artifact is the task's.
        self._thread = threading.Thread(target=copy_context().run, args=(self._report,), daemon=True)

    def __enter__(self) -> StageProgress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(_SECONDS_FOR_THE_LAST)

    def advance(self, done: int, total: int, detail: str) -> None:
        """So many of so many asks are answered."""
        self._latest = (done, total, detail)

    def _report(self) -> None:
        artifact: UUID | None = None
        told = None
        while True:
            over = self._over.wait(self._seconds)
            latest = self._latest
            if latest and latest != told and not (over and artifact is None):
                with suppress(*_API_AWAY):
                    artifact = self._put(artifact, *latest)
                    told = latest
            if over:
                return

    def _put(self, artifact: UUID | None, done: int, total: int, detail: str) -> UUID:
        percent = 100 * done / max(total, 1)
        description = f"{done} of {total} answered" + (f" ({detail})" if detail else "")
        if artifact is None:
            # In a thread without an event loop Prefect gives the id itself, no coroutine.
            return cast(UUID, create_progress_artifact(percent, key=self._key, description=description))
        return cast(UUID, update_progress_artifact(artifact, percent, description=description))


def publish_summary(summary: Summary) -> None:
    """The stage table and the report's place as an artifact of the flow run; skipped when the API is away."""
    manifest = summary.manifest
    key = artifact_key(f"{manifest['family']}-{manifest['lang']}-{manifest['profile']}")
    with suppress(*_API_AWAY):
        create_markdown_artifact(
            summary_text(summary), key=key, description="Stages, rows and calls of a build"
        )


def summary_text(summary: Summary) -> str:
    """Notices, stage table, items, calls and files of a finished run, as Markdown."""
    manifest = summary.manifest
    splits = ", ".join(f"{name} {count}" for name, count in manifest["splits"].items())
    calls = manifest["calls"]
    rows = [_row(stage) for stage in manifest["stages"]]
    # A browser opens no file from a page it loaded over http: the path can be copied.
    files = [
        f"- dataset: `{summary.folder / 'dataset'}`",
        f"- rejected: `{summary.folder / 'rejected.parquet'}`",
    ]
    if summary.report.is_file():
        files.insert(0, f"- report: [report.html]({summary.report.as_uri()}), `{summary.report}`")
    return "\n".join(
        [
            f"# CAPR, {_plain(manifest['lang'])}, profile {_plain(manifest['profile'])}",
            *(f"\n> {_plain(notice)}" for notice in manifest["notices"]),
            f"\n{manifest['items']} items ({splits}); {manifest['flagged']} flagged. "
            f"Model calls: {calls['made']} made, {calls['reused']} reused.\n",
            "| stage | expected | kept | rejected | reasons | made from | seconds |",
            "|---|---:|---:|---:|---|---|---:|",
            *rows,
            "",
            *files,
        ]
    )


def failed(error: AdageError) -> State[Any]:
    """The state of a run that ended with this error: its message is the paragraph that says the fix."""
    return Failed(message=str(error), data=error)


class OneParagraph(logging.Filter):
    """In a served run's log a mistake of the user's is its paragraph, without Prefect's traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keeps every record."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, AdageError):
            record.msg, record.args, record.exc_info = str(error), (), None
        return True


def artifact_key(name: str) -> str:
    """A name in the letters that an artifact's key may have."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def _row(stage: dict[str, Any]) -> str:
    reasons = ", ".join(f"{_plain(reason)} {count}" for reason, count in stage["reasons"].items())
    counts = " | ".join(str(stage[f"rows_{name}"]) for name in ("expected", "kept", "rejected"))
    return f"| {stage['name']} | {counts} | {reasons} | {made_from(stage)} | {stage['seconds']:.1f} |"


def _plain(text: str) -> str:
    """Text that is no markup, whatever it holds."""
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", escape(" ".join(text.split()), quote=False))
