"""Stage 2, pass 3: a descriptive name for each cluster, from its member labels (ADAGE paper, section 3.1)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from pydantic import Field

from pipeline.llm.interface import Ask, Chat
from pipeline.params import Params
from pipeline.prompts import Prompt
from pipeline.store.result import Rejection, StageResult


class NameClustersParams(Params):
    """``most_labels`` bounds the labels shown to the model, the commonest first, so that a prompt fits."""

    most_labels: int = Field(default=30, ge=1)


def name_clusters(clusters: pa.Table, chat: Chat, prompt: Prompt, params: NameClustersParams) -> StageResult:
    """Ask the model for one name a cluster; keeps (cluster_id, name, proverbs, labels)."""
    members: dict[int, Counter[str]] = {}
    for row in clusters.to_pylist():
        members.setdefault(row["cluster_id"], Counter())[row["label"]] += 1
    shown = {
        cluster: [label for label, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))][
            : params.most_labels
        ]
        for cluster, counts in sorted(members.items())
    }
    copied = {example.casefold() for example in prompt.front.examples}

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
            rows.append(
                {
                    "cluster_id": cluster,
                    "name": " ".join(answer.value["name"].split()),
                    "proverbs": members[cluster].total(),
                    "labels": sorted(members[cluster]),
                }
            )
        else:
            rejected.append(
                Rejection(answer.row_id, f"reply_{answer.status}", {"why": answer.why}, answer.raw)
            )
    return StageResult(rows, rejected, len(members), lasting=all(a.status.lasting for a in answers))
