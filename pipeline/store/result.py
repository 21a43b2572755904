"""What a stage gives back: the rows it kept, the rows it rejected and why, and how many there had to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Rejection:
    """One row that goes no further: its id, a reason slug, the numbers that decided it, the raw reply."""

    row_id: str
    reason: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    raw: str = ""


@dataclass(frozen=True)
class StageResult:
    """The outcome of a stage; ``expected`` must equal kept plus rejected. ``facts`` goes to the manifest.

    ``lasting`` is false when a row was lost to a server that was away: a later build tries again.
    """

    rows: list[dict[str, Any]]
    rejected: list[Rejection]
    expected: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    lasting: bool = True
