"""A run whose process was killed stays "Running" in Prefect; the next run of it closes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import State
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed

from flows.screen import Screen


def close_crashed_run(mark: Mapping[str, Any] | None, screen: Screen) -> None:
    """Set the flow run that an earlier process left, and its tasks, to Crashed; say that its work goes on."""
    if mark is None:
        return
    screen.say(f"an earlier run (process {mark['pid']}) was cut off; what it finished is reused")
    run = UUID(mark["flow_run_id"])
    crashed: State[Any] = Crashed(message="its process is gone; a later run goes on")
    with get_client(sync_client=True) as client:
        try:
            client.set_flow_run_state(run, crashed, force=True)
        except ObjectNotFound:
            # That run was on another Prefect server, which came and went: nothing stays Running there.
            return
        for task in client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run]))):
            if task.state is None or not task.state.is_final():
                client.set_task_run_state(task.id, crashed, force=True)
