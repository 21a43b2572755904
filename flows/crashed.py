"""A run whose process was killed stays "Running" in Prefect; the next run of it closes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed

from flows.screen import Screen


def close_crashed_run(mark: Mapping[str, Any] | None, screen: Screen) -> None:
    """Set the flow run an earlier process left behind to Crashed, and say that its work goes on."""
    if mark is None:
        return
    screen.say(f"an earlier run (process {mark['pid']}) was cut off; what it finished is reused")
    with get_client(sync_client=True) as client:
        try:
            client.set_flow_run_state(
                UUID(mark["flow_run_id"]),
                Crashed(message="its process is gone; a later run goes on"),
                force=True,
            )
        except ObjectNotFound:
            # That run was on another Prefect server, which came and went: nothing stays Running there.
            return
