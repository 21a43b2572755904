"""What became of the rows of every stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.report.words import reason_in_words


@dataclass(frozen=True)
class Reason:
    """Why rows were rejected: the slug of the tables, in plain words, and how many."""

    slug: str
    words: str
    count: int


@dataclass(frozen=True)
class StageRows:
    """One stage's rows: expected = kept + rejected."""

    name: str
    expected: int
    kept: int
    rejected: int
    reasons: list[Reason]
    calls: str

    @property
    def kept_share(self) -> float:
        """Share of the expected rows that were kept; 0 for a stage without rows."""
        return self.kept / self.expected if self.expected else 0.0


def stage_rows(manifest: Mapping[str, Any]) -> list[StageRows]:
    """The stages of a run in order."""
    return [
        StageRows(
            stage["name"],
            stage["rows_expected"],
            stage["rows_kept"],
            stage["rows_rejected"],
            [Reason(slug, reason_in_words(slug), count) for slug, count in stage["reasons"].items()],
            _calls(stage),
        )
        for stage in manifest["stages"]
    ]


def _calls(stage: Mapping[str, Any]) -> str:
    """Model calls made; a stage that was reused made none, and one without a model cannot."""
    if stage["cached"]:
        return "reused"
    made = stage["calls"].get("made", 0)
    return f"{made:,}" if made else "–"
