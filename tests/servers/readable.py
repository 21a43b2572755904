"""Replies a person can read: scenarios made of other proverbs' shipped meanings, themes from a short list."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

from tests.servers.exchange import Asked, Responder

THEMES = (
    "patience rewarded",
    "unity gives power",
    "greed brings loss",
    "haste and regret",
    "learning from elders",
    "true friendship",
    "honest work",
    "envy and rivalry",
    "careful speech",
    "courage in hardship",
    "gratitude and kindness",
    "pride before failure",
    "home and belonging",
    "small steps",
    "false appearances",
    "justice delayed",
)


def readable(seeds: Path) -> Responder:
    """A responder for the seeds of one language; other questions are left to the next responder."""
    with seeds.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))

    def answer(asked: Asked) -> str | None:
        wanted = set((asked.schema or {}).get("properties", {}))
        if wanted == {"scenario"}:
            others = [row["meaning"] for row in rows if row["text"] not in asked.last]
            return _json(scenario=" ".join(asked.rng.sample(others, 2)))
        if wanted == {"theme"}:
            # A theme a proverb, whatever else the prompt holds: the last message alone decides.
            return _json(theme=random.Random(asked.last).choice(THEMES))
        if wanted == {"name"}:
            labels = [theme for theme in THEMES if theme in asked.last]
            return _json(name=" and ".join(label.title() for label in labels[:2]))
        return None

    return answer


def _json(**values: str) -> str:
    return json.dumps(values, ensure_ascii=False)
