"""Every table's name and schema. A stage writes exactly one table, named here after the stage."""

from __future__ import annotations

import pyarrow as pa

_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
_INT = pa.int32()
_REAL = pa.float64()
_FLAG = pa.bool_()


def _schema(**fields: pa.DataType) -> pa.Schema:
    return pa.schema(list(fields.items()))


_ITEM = {
    "item_id": _TEXT,
    "item_digest": _TEXT,
    "scenario_id": _TEXT,
    "proverb_id": _TEXT,
    "domain": _TEXT,
    "scenario": _TEXT,
    "options": _TEXTS,
    "option_ids": _TEXTS,
    "roles": _TEXTS,
    "similarities": pa.list_(_REAL),
    "meaning_similarities": pa.list_(_REAL),
    "scenario_similarities": pa.list_(_REAL),
    "scenario_overlaps": pa.list_(_REAL),
    "answer": _INT,
    "medoid_rank": _INT,
}

SCHEMAS: dict[str, pa.Schema] = {
    "acquire": _schema(
        proverb_id=_TEXT,
        text=_TEXT,
        meaning=_TEXT,
        meaning_from=_TEXT,
        meaning_en=_TEXT,
        equivalent_en=_TEXT,
        source=_TEXT,
        status=_TEXT,
        group=_TEXT,
        contains_proverb=_FLAG,
        selected=_FLAG,
        in_base=_FLAG,
    ),
    "label": _schema(proverb_id=_TEXT, label=_TEXT, label_raw=_TEXT),
    "cluster": _schema(proverb_id=_TEXT, label=_TEXT, cluster_id=_INT, label_key=_TEXT),
    "name_clusters": _schema(cluster_id=_INT, name=_TEXT, proverbs=_INT, labels=_TEXTS),
    "scenarios": _schema(scenario_id=_TEXT, proverb_id=_TEXT, domain=_TEXT, text=_TEXT),
    "filter": _schema(
        scenario_id=_TEXT,
        proverb_id=_TEXT,
        domain=_TEXT,
        text=_TEXT,
        words=_INT,
        script_share=_REAL,
        verdict=_TEXT,
        overlap=_REAL,
        similarity=_REAL,
        similarity_cap=_REAL,
        content_words=_TEXTS,
    ),
    "distractors": _schema(**_ITEM),
    "judge": _schema(
        item_id=_TEXT,
        item_digest=_TEXT,
        judge=_TEXT,
        model=_TEXT,
        status=_TEXT,
        why=_TEXT,
        faithfulness=_INT,
        naturalness=_INT,
        distractors=_INT,
        fits=pa.list_(_INT),
    ),
    "curate": _schema(
        **_ITEM,
        split=_TEXT,
        cluster_id=_INT,
        cluster=_TEXT,
        group=_TEXT,
        meaning_from=_TEXT,
        equivalent_en=_TEXT,
        flag_paper=_FLAG,
        flag_reasons=_TEXTS,
        ambiguous=_FLAG,
        invalid=_FLAG,
        valid_judges=_INT,
        faithfulness=_REAL,
        naturalness=_REAL,
        distractors=_REAL,
    ),
}

REJECTED = _schema(stage=_TEXT, row_id=_TEXT, reason=_TEXT, numbers=_TEXT, raw=_TEXT)
"""Rows that go no further: ``numbers`` is canonical JSON, ``raw`` every raw reply of the row."""
