"""The three rubrics a judge rates (ADAGE paper, section 3.5)."""

from __future__ import annotations

RUBRICS = ("faithfulness", "naturalness", "distractors")
"""Rubric names, as in the judge's prompt, its table and the dataset."""
