"""What `adage doctor` looks at for a profile: this machine, the embedder, every model as its roles ask it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flows.backends import Backends
from pipeline.llm import doctor
from pipeline.llm.doctor import Finding
from pipeline.llm.request import ChatOptions
from pipeline.profile import Profile
from pipeline.store.root import Root

# Weights of the embedded model, a ledger of the paper's size and its artifacts take less.
_LEAST_BYTES = 2 * 10**9


@dataclass(frozen=True)
class Checked:
    """What was found about one thing; ``roles`` are those a model was asked for."""

    subject: str
    findings: tuple[Finding, ...]
    roles: tuple[str, ...] = ()


def check_up(place: Root, profile: Profile) -> Iterator[Checked]:
    """Look at everything a build of this profile needs, one thing after another; models with real calls."""
    yield Checked(
        "this machine",
        (doctor.disk_space(place.artifacts, _LEAST_BYTES), doctor.ledger(place.ledger(profile.ledger))),
    )
    with Backends() as backends:
        spec = profile.embedder
        yield Checked(
            f"embedder {spec.model or spec.backend}", (doctor.embedder(lambda: backends.embedder(spec)),)
        )
        for (name, options), roles in _asked(profile).items():
            model = profile.models[name]
            findings = doctor.probe(
                lambda name=name, model=model: backends.served(name, model),  # type: ignore[misc]
                options,
                backends.timing(model),
            )
            yield Checked(f"model {name}", tuple(findings), tuple(roles))


def _asked(profile: Profile) -> dict[tuple[str, ChatOptions], list[str]]:
    """Roles by model and options: equal ones are looked at once, one model's together, as it loads once."""
    found: dict[tuple[str, ChatOptions], list[str]] = {}
    for name in profile.models:
        for role, seat in profile.seats.items():
            if seat.model == name:
                found.setdefault((name, profile.options(seat)), []).append(role)
    return found
