"""What a model family expects before a text that is compared with its like."""

from __future__ import annotations

import re

E5_PREFIX = "query: "
"""E5 models are trained with it (their model cards); without it their similarities mean little."""

# Instruction-tuned ones (multilingual-e5-large-instruct) expect a task description instead, for queries only.
_E5 = re.compile(r"\be5-(small|base|large)\b(?!.*instruct)", re.IGNORECASE)


def prefix_of(model: str) -> str:
    """The prefix for a model of this name; empty for most."""
    return E5_PREFIX if _E5.search(model) else ""
