"""What a person sees while a build runs: one line a stage, a bar while it works, a table at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from flows.runs import made_from
from pipeline.capr.graph import STAGES
from pipeline.capr.shortcuts import failures, said_of
from pipeline.capr.shortfall import past_limit, shortfall
from pipeline.store.stages import StageRef
from pipeline.visible import visible

if TYPE_CHECKING:
    from flows.runs import Summary


class _Elapsed(TimeElapsedColumn):
    """Time since the stage began; rich's own stops for good when the first judge is done."""

    def render(self, task: Task) -> Text:
        seconds = timedelta(seconds=int(task.elapsed or 0))
        return Text(str(seconds), style="progress.elapsed")


class Screen:
    """Progress on stderr, so that stdout stays free for what a program reads."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[counts]}"),
            _Elapsed(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, counts="")
        self._stage = ""
        self._began = time.monotonic()
        self._done = 0

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """One line for the person."""
        self.console.print(visible(text), markup=False, soft_wrap=True)

    def begin_stage(self, stage: str) -> None:
        """A stage starts."""
        self._stage = stage
        self._began = time.monotonic()
        self._done = 0
        self._progress.reset(self._task, total=None, description=self._label(stage), counts="")

    def advance(self, done: int, total: int, detail: str) -> None:
        """So many of so many asks of the running stage are answered; ``detail`` is tokens and time left."""
        if done < self._done:  # the next judge counts anew
            self._began = time.monotonic()
        self._done = done
        rate = 60 * done / max(time.monotonic() - self._began, 1e-3)
        counts = f"{done}/{total} {rate:.0f}/min {detail}"
        self._progress.update(self._task, completed=done, total=total, counts=counts)

    def finish_stage(self, ref: StageRef) -> None:
        """A stage is done."""
        how = "cached" if ref.cached else f"{ref.seconds:.1f} s, {ref.calls.get('made', 0)} calls"
        rejected = f", {ref.rejected} rejected" if ref.rejected else ""
        self.say(f"{self._label(ref.stage)} {ref.kept} of {ref.expected} rows kept{rejected} ({how})")

    def end(self, summary: Summary) -> None:
        """The table of the whole run."""
        self._progress.stop()
        self.console.print(run_table(summary))
        for line in run_lines(summary):
            self.say(line)
        self.say(f"dataset: {summary.folder / 'dataset'}")
        self.say(f"rejected rows: {summary.folder / 'rejected.parquet'}")
        self.say(f"report: {summary.report}")

    @staticmethod
    def _label(stage: str) -> str:
        place = list(STAGES).index(stage) + 1
        return f"[{place}/{len(STAGES)}] {stage:<13}"


def duration(seconds: float) -> str:
    """Seconds as a person says them: hours and minutes, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def run_lines(summary: Summary) -> list[str]:
    """The run's notices, then its items, splits, flags, what kept it from more items, and calls."""
    manifest = summary.manifest
    splits = ", ".join(f"{name} {count}" for name, count in manifest["splits"].items())
    calls = manifest["calls"]
    why_fewer = [why for why in (past_limit(manifest["stages"]), shortfall(manifest["stages"])) if why]
    return [
        *manifest["notices"],
        f"{manifest['items']} items ({splits}); {manifest['flagged']} flagged",
        *why_fewer,
        *shortcut_lines(manifest["shortcuts"]),
        f"model calls: {calls['made']} made, {calls['reused']} reused",
    ]


def shortcut_lines(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line on the gates, and one for each that failed."""
    rulings = Counter(gate["verdict"] for gate in gates if gate["verdict"])
    if not rulings:
        return []
    counts = ", ".join(f"{rulings[ruling]} {ruling}" for ruling in ("pass", "undecided", "fail"))
    failed = [f"shortcut: {gate['baseline']} {said_of(gate)}" for gate in failures(gates)]
    return [f"gates for shortcuts: {counts}", *failed]


def run_table(summary: Summary) -> Table:
    """Rows expected, kept and rejected by reason, a line a stage; fits the terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    # On a narrow terminal cells go on in a second line; nothing is cut off.
    table.add_column("stage", overflow="fold")
    for name in ("expected", "kept", "rejected"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("reasons", overflow="fold")
    table.add_column("made from", overflow="fold")
    for stage in summary.manifest["stages"]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in stage["reasons"].items())
        counts = [str(stage[f"rows_{name}"]) for name in ("expected", "kept", "rejected")]
        table.add_row(stage["name"], *counts, reasons, made_from(stage))
    return table
