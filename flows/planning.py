"""What `adage plan` does: a small build as a pilot, then the whole build's calls are counted, not made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from flows.assembly import BuildRequest, assemble, settle
from flows.screen import Screen
from pipeline.capr.graph import STAGES
from pipeline.capr.planning import listen, plan
from pipeline.llm.forecast import Forecast, together


@dataclass(frozen=True)
class Plan:
    """Forecasts by role, and the pilot they rest on: its proverbs and items, its calls made and reused."""

    request: BuildRequest
    pilot_proverbs: int
    pilot_items: int
    pilot_calls: Mapping[str, int]
    roles: tuple[Forecast, ...]

    @property
    def total(self) -> Forecast:
        """All roles together; they run one after another."""
        return together(self.roles)

    @property
    def as_json(self) -> dict[str, Any]:
        """The form for programs."""
        return {
            "lang": self.request.lang,
            "profile": self.request.profile,
            "pilot": {
                "proverbs": self.pilot_proverbs,
                "items": self.pilot_items,
                "calls": dict(self.pilot_calls),
            },
            "roles": [asdict(role) for role in self.roles],
            "total": asdict(self.total),
        }


def plan_capr(request: BuildRequest, pilot_proverbs: int, screen: Screen) -> Plan:
    """Build ``pilot_proverbs`` with one scenario each, without Prefect, and forecast the whole from it.

    Never more proverbs than the build itself has: the pilot's replies are in the ledger, where the build
    finds them again. A base dataset's proverbs count for nothing: no model is asked about them.
    """
    limit = settle(request)[1].capr.acquire.limit
    fewer = _in_base(request, screen) + pilot_proverbs
    fewer = min(fewer, limit or fewer)
    with assemble(replace(request, limit_proverbs=fewer, limit_domains=1), screen) as pilot:
        for stage in list(STAGES)[: list(STAGES).index("judge") + 1]:
            screen.finish_stage(pilot.run(stage))
        calls = pilot.calls()
        proverbs, items = len(pilot.runner.asked), pilot.runner.done["distractors"].kept
        told = listen(pilot.runner)
    with assemble(request, screen) as whole:
        models, seats = whole.profile.models, whole.profile.seats
        forecasts = plan(
            whole.runner, told, whole.chat, lambda role: whole.backends.slots(models[seats[role].model])
        )
    return Plan(request, proverbs, items, calls, tuple(forecasts))


def _in_base(request: BuildRequest, screen: Screen) -> int:
    """How many of the proverbs stand in the base dataset, which a limit counts too."""
    if request.base is None:
        return 0
    with assemble(request, screen) as whole:
        found: int = whole.runner.run("acquire").facts["in_base"]
        return found
