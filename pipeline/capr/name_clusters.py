"""Stage 2, pass 3: a descriptive name for each cluster, from its member labels (ADAGE paper, section 3.1)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from pydantic import Field

from pipeline.capr.base import Base
from pipeline.llm.interface import Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import Rejection, StageResult


class NameClustersParams(Params):
    """``most_labels`` bounds the labels shown to the model, the commonest first, so that a prompt fits; None
    shows all, as the paper does. ``reject_copies`` refuses the prompt's own example as a name, as for labels.
    """

    most_labels: int | None = Field(default=30, ge=1)
    reject_copies: bool = False


def name_clusters(
    clusters: pa.Table, chat: Chat, prompt: Prompt, params: NameClustersParams, base: Base | None
) -> StageResult:
    """Ask the model for one name a cluster; keeps (cluster_id, name, proverbs, labels).

    A base dataset's names stay, for its items carry them: no model is asked, and a cluster that had no name
    is rejected again.
    """
    members: dict[int, Counter[str]] = {}
    for row in clusters.to_pylist():
        members.setdefault(row["cluster_id"], Counter())[row["label"]] += 1
    if base:
        return _keep_names(members, base)
    shown = {
        cluster: [label for label, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))][
            : params.most_labels
        ]
        for cluster, counts in sorted(members.items())
    }
    copied = {example.casefold() for example in prompt.front.examples} if params.reject_copies else set()

    def objection(value: Any) -> str | None:
        name = value["name"].strip()
        if not name:
            return "the name is blank"
        return f"{name!r} is copied from the prompt" if name.casefold() in copied else None

    asks = [
        Ask(f"cluster-{c}", prompt.render(labels=labels), prompt.schema, objection)
        for c, labels in shown.items()
    ]
    rows: list[dict[str, Any]] = []
    rejected: list[Rejection] = []
    answers = chat.ask(asks)
    for cluster, answer in zip(shown, answers, strict=True):
        if answer.ok:
            rows.append(_row(cluster, " ".join(answer.value["name"].split()), members[cluster]))
        else:
            rejected.append(
                Rejection(answer.row_id, f"reply_{answer.status}", {"why": answer.why}, answer.raw)
            )
    return StageResult(rows, rejected, len(members), lasting=all(a.status.lasting for a in answers))


def _keep_names(members: dict[int, Counter[str]], base: Base) -> StageResult:
    names = base.cluster_names
    rows = [
        _row(cluster, names[cluster], members[cluster]) for cluster in sorted(members) if cluster in names
    ]
    unnamed = [
        Rejection(f"cluster-{cluster}", "unnamed_in_base", {"base": base.version})
        for cluster in sorted(set(members) - set(names))
    ]
    return StageResult(rows, unnamed, len(members))


def _row(cluster: int, name: str, labels: Counter[str]) -> dict[str, Any]:
    return {"cluster_id": cluster, "name": name, "proverbs": labels.total(), "labels": sorted(labels)}
