"""The deployment `build-capr/default` as prefect.yaml describes it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from prefect.deployments.runner import RunnerDeployment
from prefect.schedules import Schedule

from flows.build_capr import build_capr
from pipeline.errors import ConfigError


def described_deployment(file: Path) -> RunnerDeployment:
    """The deployment of this prefect.yaml: name, parameters, tags, and the schedules it has today."""
    said = _said(file)
    made = build_capr.to_deployment(
        name=said["name"],
        description=said.get("description"),
        parameters=said.get("parameters") or {},
        tags=said.get("tags") or [],
        schedules=[_schedule(entry, file) for entry in said.get("schedules") or []],
        # An unknown language is refused by the flow, which says what is known and what to type.
        enforce_parameter_schema=said.get("enforce_parameter_schema", True),
    )
    # Outside an event loop Prefect gives the deployment itself, no coroutine.
    assert isinstance(made, RunnerDeployment)
    return made


def _said(file: Path) -> dict[str, Any]:
    try:
        [said] = yaml.safe_load(file.read_text(encoding="utf-8"))["deployments"]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{file}: no list `deployments` with one entry can be read from it ({error}); "
            "go to the project's folder, or restore the file"
        ) from error
    found: dict[str, Any] = said
    return found


def _schedule(entry: dict[str, Any], file: Path) -> Schedule:
    settings = dict(entry)
    if "interval" in settings:
        settings["interval"] = timedelta(seconds=settings["interval"])
    try:
        return Schedule(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"{file}: schedules: {entry} is no schedule ({error}); write for example "
            '{cron: "0 3 * * 0", timezone: Europe/Berlin}'
        ) from error
