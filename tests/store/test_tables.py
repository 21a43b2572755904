"""A table takes values of its columns' types and nothing that has to be bent first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.errors import StageError
from pipeline.store.tables import kept_table

JUDGED = {
    "item_id": "i",
    "item_digest": "d",
    "judge": "j",
    "model": "m",
    "status": "ok",
    "why": "",
    "faithfulness": 4,
    "naturalness": 5,
    "distractors": None,
    "fits": [1, None, 3, 4],
}
FILTERED = {
    "scenario_id": "s",
    "proverb_id": "p",
    "domain": "d",
    "text": "t",
    "words": 3,
    "script_share": 1,
    "verdict": "yes",
    "overlap": 0.5,
    "similarity": None,
    "similarity_cap": 0.85,
    "content_words": ["a"],
}


@pytest.mark.parametrize(
    ("stage", "column", "value"),
    [
        ("judge", "faithfulness", 1.5),
        ("judge", "faithfulness", 4.0),
        ("judge", "faithfulness", np.float32(4)),
        ("judge", "faithfulness", True),
        ("judge", "faithfulness", "4"),
        ("judge", "faithfulness", 2**40),
        ("judge", "fits", [1, 2.5, 3, 4]),
        ("judge", "fits", "1234"),
        ("judge", "fits", b"1234"),
        ("judge", "why", b"because"),
        ("filter", "overlap", True),
        ("filter", "overlap", "0.5"),
        ("filter", "content_words", "abc"),
        ("filter", "content_words", ["a", 1]),
    ],
)
def test_an_ill_typed_value_is_an_error(stage: str, column: str, value: Any) -> None:
    row = {**(JUDGED if stage == "judge" else FILTERED), column: value}
    with pytest.raises(StageError, match=f"stage {stage}: (column {column} of type|a value does not fit)"):
        kept_table(stage, [row])


def test_numbers_of_numpy_and_whole_numbers_for_real_ones_are_of_the_type() -> None:
    row = {**FILTERED, "words": np.int64(3), "overlap": np.float32(0.5), "similarity": 1}
    [kept] = kept_table("filter", [row]).to_pylist()
    assert (kept["words"], kept["overlap"], kept["similarity"], kept["script_share"]) == (3, 0.5, 1.0, 1.0)
    assert kept_table("judge", [JUDGED]).to_pylist() == [JUDGED]
