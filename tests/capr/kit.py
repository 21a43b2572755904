"""Small tables, a model that answers by a function and an embedder that looks its vectors up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.capr.filter import FilterParams, filter
from pipeline.embed.interface import Vectors
from pipeline.language.language import Language, load_language
from pipeline.llm.interface import Answer, Ask, Reply, Status
from pipeline.llm.replies import judge_reply
from pipeline.llm.schemas import Schemas
from pipeline.prompts import Prompt, load_prompt
from pipeline.store.result import StageResult
from pipeline.store.tables import kept_table

PROJECT = Path(__file__).resolve().parents[2]


def prompt(stage: str) -> Prompt:
    """A shipped prompt."""
    return load_prompt(PROJECT / "prompts" / "capr" / f"{stage}.md")


def language(code: str = "en") -> Language:
    """A shipped language."""
    return load_language(PROJECT / "seeds" / code / "language.yaml")


def proverbs(*texts: str, **changed: Sequence[Any]) -> pa.Table:
    """Accepted proverbs p0, p1, ... with meanings of their own; ``changed`` gives whole columns."""
    rows = [
        {
            "proverb_id": f"p{i}",
            "text": text,
            "meaning": f"meaning of {text}",
            "meaning_from": "native",
            "meaning_en": "",
            "equivalent_en": "",
            "source": "",
            "status": "reviewed",
            "group": f"p{i}",
            "contains_proverb": False,
            "selected": True,
            "in_base": False,
            **{name: column[i] for name, column in changed.items()},
        }
        for i, text in enumerate(texts)
    ]
    return kept_table("acquire", rows)


def labels(*themes: str) -> pa.Table:
    """Theme labels of p0, p1, ..."""
    return kept_table(
        "label",
        [{"proverb_id": f"p{i}", "label": theme, "label_raw": theme} for i, theme in enumerate(themes)],
    )


def clusters(*numbers: int, themes: Sequence[str] = ()) -> pa.Table:
    """Clusters of p0, p1, ..., each under a label of its own unless ``themes`` says otherwise."""
    names = themes or [f"theme {i}" for i in range(len(numbers))]
    rows = [
        {"proverb_id": f"p{i}", "label": name, "cluster_id": number, "label_key": name}
        for i, (number, name) in enumerate(zip(numbers, names, strict=True))
    ]
    return kept_table("cluster", rows)


def scenarios(**texts: str) -> pa.Table:
    """Scenarios by id, written ``p0_family="..."`` for p0.family."""
    rows = []
    for name, text in texts.items():
        proverb_id, domain = name.split("_", 1)
        rows.append(
            {
                "scenario_id": f"{proverb_id}.{domain}",
                "proverb_id": proverb_id,
                "domain": domain,
                "text": text,
            }
        )
    return kept_table("scenarios", rows)


def shuffled(table: pa.Table, seed: int = 3) -> pa.Table:
    """The same rows in another order."""
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def unit(*rows: Sequence[float]) -> Vectors:
    """The rows as unit vectors; a zero row stays zero."""
    vectors = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return found


class TableEmbedder:
    """Vectors by text; texts without one get a direction of their own, at right angles to all others.

    ``embedded`` records every text handed in; texts in ``long`` are longer than the window.
    """

    name = "table"
    identity = "table"

    def __init__(
        self, vectors: Mapping[str, Sequence[float]] | None = None, long: Sequence[str] = (), size: int = 96
    ) -> None:
        self._known = {text: list(vector) for text, vector in (vectors or {}).items()}
        self._width = max((len(v) for v in self._known.values()), default=0)
        self._size = self._width + size
        self._others: dict[str, int] = {}
        self._long = set(long)
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        found = np.zeros((len(texts), self._size), dtype=np.float32)
        for row, text in enumerate(texts):
            if text in self._known:
                found[row, : len(self._known[text])] = unit(self._known[text])[0]
            else:
                found[row, self._width + self._others.setdefault(text, len(self._others))] = 1
        return found

    def cut(self, texts: Sequence[str]) -> list[bool]:
        return [text in self._long for text in texts]


class FunctionChat:
    """A model whose reply is a function of the ask: a value, a raw text, or a status that no reply has.

    One attempt an ask; replies are judged as a real chat judges them. ``asked`` records every ask in order.
    """

    def __init__(self, reply: Callable[[Ask], Any], name: str = "function", log: list[str] | None = None):
        self.name = name
        self.identity = name
        self.asked: list[Ask] = []
        self._reply = reply
        self._log = log if log is not None else []

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        schemas = Schemas()
        answers = []
        for ask in asks:
            self.asked.append(ask)
            self._log.append(ask.row_id)
            said = self._reply(ask)
            if isinstance(said, Status):
                answers.append(Answer(ask.row_id, said, why="scripted"))
                continue
            reply = Reply(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
            verdict = judge_reply(reply, schemas.get(ask.schema), ask.check)
            answers.append(Answer(ask.row_id, verdict.status, verdict.value, verdict.why, (reply,)))
        return answers


def reasons(result: StageResult) -> dict[str, str]:
    """Row id -> why it was rejected."""
    return {rejection.row_id: rejection.reason for rejection in result.rejected}


def filtered(table: pa.Table, seeds: pa.Table, embedder: Any, **params: Any) -> StageResult:
    """The filter on English scenarios, caps fixed unless said otherwise."""
    settings = FilterParams(**{"similarity_cap": "fixed", **params})
    return filter(table, seeds, language(), embedder, settings, None)
