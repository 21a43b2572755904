"""The three rubrics a judge rates (ADAGE paper, section 3.5)."""

from __future__ import annotations

RUBRICS = ("faithfulness", "naturalness", "distractors")
"""Rubric names, as in the judge's prompt, its table and the dataset."""

ACCEPTABLE = {"faithfulness": 4, "naturalness": 4, "distractors": 3}
"""Score from which a judge finds an item acceptable (ADAGE paper, table 3)."""
