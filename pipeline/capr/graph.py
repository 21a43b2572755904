"""The CAPR graph: its stages in order, and what each name in a stage's signature stands for."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from pipeline.capr.acquire import acquire
from pipeline.capr.cluster import cluster
from pipeline.capr.curate import curate
from pipeline.capr.distractors import distractors
from pipeline.capr.filter import filter
from pipeline.capr.judge import judge
from pipeline.capr.label import label
from pipeline.capr.name_clusters import name_clusters
from pipeline.capr.scenarios import scenarios
from pipeline.store.result import StageResult

STAGES: dict[str, Callable[..., StageResult]] = {
    "acquire": acquire,
    "label": label,
    "cluster": cluster,
    "name_clusters": name_clusters,
    "scenarios": scenarios,
    "filter": filter,
    "distractors": distractors,
    "judge": judge,
    "curate": curate,
}
"""Stage name -> its function. The same name is its module, prompt, folder, task and table."""

TABLES = {
    "proverbs": "acquire",
    "labels": "label",
    "clusters": "cluster",
    "cluster_names": "name_clusters",
    "scenarios": "scenarios",
    "filtered": "filter",
    "items": "distractors",
    "judgements": "judge",
}
"""Parameter name of a stage function -> the stage whose kept table it receives."""

LIBRARIES = {
    "acquire": ("langdetect", "regex"),
    "label": ("jinja2", "regex"),
    "cluster": ("numpy", "regex", "scipy"),
    "name_clusters": ("jinja2",),
    "scenarios": ("jinja2", "regex"),
    "filter": ("langdetect", "numpy", "regex"),
    "distractors": ("numpy", "regex"),
    "judge": ("jinja2", "krippendorff", "numpy"),
    "curate": (),
}
"""Libraries whose version may change a stage's output, so that it enters the key; a language adds its own."""

PROMPTS = ("label", "name_clusters", "scenarios", "judge")
"""Stages with a prompt file."""


def parameters(stage: str) -> list[str]:
    """The names a stage's function takes."""
    return list(inspect.signature(STAGES[stage]).parameters)


def inputs(stage: str) -> dict[str, str]:
    """Parameter -> stage, for the tables a stage reads."""
    return {name: TABLES[name] for name in parameters(stage) if name in TABLES}
