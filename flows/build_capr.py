"""The flow `build-capr`: CAPR's stages, one Prefect task each."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas import State
from prefect.context import get_run_context
from prefect.states import Completed

from flows.assembly import Assembly, BuildRequest, assemble
from flows.choices import Offers
from flows.crashed import close_crashed_run
from flows.running import running
from flows.runs import refuse_failures
from flows.screen import Screen
from flows.ui import OneParagraph, StageProgress, failed, publish_summary
from pipeline.capr.graph import STAGES
from pipeline.errors import AdageError
from pipeline.store.root import Root
from pipeline.store.stages import StageRef

logging.getLogger("prefect.flow_runs").addFilter(OneParagraph())


@flow(
    name="build-capr", flow_run_name="capr-{lang}-{profile}", persist_result=False, validate_parameters=True
)
def build_capr(
    lang: Annotated[str, Offers(Root.languages)],
    profile: Annotated[str, Offers(Root.profiles)] = "demo",
    limit_proverbs: int | None = None,
    limit_domains: int | None = None,
    root: str | None = None,
    drop_flagged: bool = False,
    max_calls: int | None = None,
    max_hours: float | None = None,
    base: str | None = None,
    recluster: bool = False,
    strict: bool = False,
) -> dict[str, Any] | State[Any]:
    """Build the CAPR benchmark of one language; gives back what `adage show capr --json` prints.

    A stage whose key is known is not run again and shows as Cached. Errors of the user's are raised
    before the first model call. A run that fails says the fix in its state's message.

    Args:
        lang: Language code, a folder of seeds/.
        profile: Models, limits and thresholds, a file of profiles/.
        limit_proverbs: Use the first N proverbs only.
        limit_domains: Use the first N domains only.
        root: Folder that holds seeds, profiles, prompts and artifacts; else the one the server runs in.
        drop_flagged: Leave items out that the jury flags.
        max_calls: Stop, resumably, after N model calls.
        max_hours: Stop, resumably, after H hours.
        base: Folder, from the root, of a finished run whose items stay while the dataset grows.
        recluster: With base: new clusters and items, a new major version.
        strict: Fail a finished run that has shortcuts.
    """
    request = BuildRequest(
        lang=lang,
        profile=profile,
        limit_proverbs=limit_proverbs,
        limit_domains=limit_domains,
        root=root,
        drop_flagged=drop_flagged,
        max_calls=max_calls,
        max_hours=max_hours,
        base=base,
        recluster=recluster,
        strict=strict,
    )
    try:
        return _build(request)
    except AdageError as error:
        return failed(error)


def _build(request: BuildRequest) -> dict[str, Any]:
    with Screen() as screen, assemble(request, screen) as assembly:
        assembly.introduce()
        flow_run_id = str(get_run_context().flow_run.id)  # type: ignore[union-attr]
        with running(assembly.run_folder, flow_run_id) as cut_off:
            close_crashed_run(cut_off, screen)
            for name in STAGES:
                screen.finish_stage(_task(assembly, name).submit().result())
                if name == "cluster" and request.recluster:
                    screen.say(assembly.what_reclustering_changes())
            summary = assembly.finish()
        screen.end(summary)
        publish_summary(summary)
        if request.strict:
            refuse_failures(summary)
        return summary.as_json


def _task(assembly: Assembly, name: str) -> Any:
    """The Prefect task of one stage."""

    @task(name=name, task_run_name=name, cache_policy=NO_CACHE, persist_result=False)
    def stage() -> State[StageRef] | StageRef:
        with StageProgress(f"capr-{assembly.lang}-{name}") as progress:
            assembly.watch = progress.advance
            try:
                ref = assembly.run(name)
            except AdageError as error:
                return failed(error)
        return Completed(name="Cached", message=f"reused {ref.key}", data=ref) if ref.cached else ref

    return stage
