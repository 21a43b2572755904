"""Which artifacts belong together: those of a run, or those an older build read to make its last stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.capr import graph
from pipeline.store.stages import Artifact, artifacts, open_artifact


@dataclass(frozen=True)
class View:
    """One artifact a stage, as one build made or read them; ``source`` says which build, for people."""

    source: str
    stages: Mapping[str, Artifact]


def view_of_run(folder: Path, keys: Mapping[str, str], source: str) -> View:
    """The artifacts a run's manifest names (stage -> key), without those that are gone or altered."""
    opened = {stage: open_artifact(folder / stage / key) for stage, key in keys.items()}
    return View(source, {stage: artifact for stage, artifact in opened.items() if artifact})


def other_views(folder: Path) -> Iterator[View]:
    """Every build that can be told from the artifacts, those that came furthest first, then the newest.

    A build that was stopped, or replaced by another, has no run manifest, but each artifact's key names the
    digests of the tables it was made from.
    """
    known = {stage: artifacts(folder, stage) for stage in graph.STAGES}
    for stage in reversed(graph.STAGES):
        for artifact in known[stage]:
            source = f"another build, by {stage}/{artifact.ref.key}"
            yield View(source, _ancestors(artifact, known))


def _ancestors(last: Artifact, known: Mapping[str, list[Artifact]]) -> dict[str, Artifact]:
    """The artifact and what it was made from; a table that is gone ends its branch."""
    found = {last.ref.stage: last}
    waiting = [last]
    while waiting:
        artifact = waiting.pop()
        for name, source in graph.inputs(artifact.ref.stage).items():
            digest = artifact.parts["inputs"].get(name)
            made = next((a for a in known[source] if a.ref.digest == digest), None)
            if made and source not in found:
                found[source] = made
                waiting.append(made)
    return found
