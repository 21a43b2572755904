"""How long a run will take: from a small pilot's replies and the calls the ledger cannot spare."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.errors import StageError
from pipeline.llm.interface import Answer

# A pilot of few, similar rows shows too little spread; no forecast is better than this.
_LEAST_ERROR = 0.10
# Two standard errors, about 95 %.
_ERRORS = 2.0


@dataclass(frozen=True)
class Pace:
    """What one ask of a role took in the pilot, its re-asking included, on average.

    ``seconds`` are a slot's seconds; ``error`` is the relative half-width of a 95 % interval of their mean.
    """

    asks: int
    calls: float
    seconds: float
    prompt_tokens: float
    completion_tokens: float
    error: float


@dataclass(frozen=True)
class Forecast:
    """Calls of a role still to be made, tokens and hours; ``hours_low`` to ``hours_high`` is the range.

    ``held`` asks are answered by the ledger. ``estimated``: the asks are not known yet, so neither is which
    of them the ledger holds; their number follows from the pilot.
    """

    role: str
    asks: int
    held: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    hours: float
    hours_low: float
    hours_high: float
    estimated: bool = False


def pace_of(answers: Sequence[Answer]) -> Pace | None:
    """The pace of a pilot's answers, made now or reused; None when none of them holds a reply."""
    replies = [answer.replies for answer in answers if answer.replies]
    if not replies:
        return None
    seconds = [sum(reply.seconds for reply in tries) for tries in replies]
    mean = statistics.fmean(seconds)
    spread = statistics.stdev(seconds) / math.sqrt(len(seconds)) if len(seconds) > 1 else mean
    return Pace(
        asks=len(replies),
        calls=statistics.fmean(len(tries) for tries in replies),
        seconds=mean,
        prompt_tokens=statistics.fmean(sum(r.prompt_tokens or 0 for r in tries) for tries in replies),
        completion_tokens=statistics.fmean(sum(r.completion_tokens or 0 for r in tries) for tries in replies),
        error=max(_LEAST_ERROR, min(1.0, _ERRORS * spread / mean if mean else 1.0)),
    )


def forecast(
    role: str, asks: int, held: int, pace: Pace | None, slots: int, *, estimated: bool = False
) -> Forecast:
    """What a role's asks will take: ``held`` answered by the ledger, ``slots`` at a time.

    A pilot of fewer asks than slots has not seen the server busy: at worst it answers no faster than it
    did then, which is the upper end of the range. Without asks left no pace is needed.
    """
    left = asks - held
    if pace is None:
        if left:
            raise StageError(
                f"{role}: the pilot got no reply, so {left} asks cannot be forecast: look at the model with "
                "adage doctor, or give a larger --pilot"
            )
        return Forecast(role, asks, held, 0, 0, 0, 0.0, 0.0, 0.0, estimated)
    hours = left * pace.seconds / slots / 3600
    return Forecast(
        role=role,
        asks=asks,
        held=held,
        calls=math.ceil(left * pace.calls),
        prompt_tokens=round(left * pace.prompt_tokens),
        completion_tokens=round(left * pace.completion_tokens),
        hours=hours,
        hours_low=hours * (1 - pace.error),
        hours_high=hours * (1 + pace.error) * slots / min(slots, pace.asks),
        estimated=estimated,
    )


def together(forecasts: Sequence[Forecast]) -> Forecast:
    """The sum over roles; their errors are taken not to cancel out."""
    return Forecast(
        role="total",
        asks=sum(f.asks for f in forecasts),
        held=sum(f.held for f in forecasts),
        calls=sum(f.calls for f in forecasts),
        prompt_tokens=sum(f.prompt_tokens for f in forecasts),
        completion_tokens=sum(f.completion_tokens for f in forecasts),
        hours=sum(f.hours for f in forecasts),
        hours_low=sum(f.hours_low for f in forecasts),
        hours_high=sum(f.hours_high for f in forecasts),
        estimated=any(f.estimated for f in forecasts),
    )
