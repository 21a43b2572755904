"""A careful guess at how many tokens a prompt has, for servers that cut long prompts without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pipeline.llm.interface import Message

# Characters a token, on the generous side, so that the guess is rarely above the truth: alphabets (up to
# U+07FF: Latin, Cyrillic, Arabic, Hebrew) and all later scripts, whose letters carry more.
_PER_TOKEN_ALPHABET = 4.5
_PER_TOKEN_OTHER = 2.5
# Below this many tokens a server's count says nothing about cutting.
_LEAST = 64
# "====" or a run of blanks is few tokens however long it is.
_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
_OTHER = re.compile("[\u0800-\U0010ffff]")


def estimate_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens the messages have, rather too few than too many."""
    return int(sum(_tokens(message.content) for message in messages))


# A stage's prompts begin with the same messages thousands of times.
@lru_cache(maxsize=64)
def _tokens(text: str) -> float:
    text = _RUN.sub(r"\1\1\1", text)
    other = len(_OTHER.findall(text))
    return (len(text) - other) / _PER_TOKEN_ALPHABET + other / _PER_TOKEN_OTHER


def surely_too_long(estimate: int, num_ctx: int) -> bool:
    """True when even half the guess would not fit: such a prompt is not sent at all."""
    return estimate > 2 * num_ctx


def silently_cut(estimate: int, counted: int | None) -> bool:
    """True when the server counted far fewer prompt tokens than the prompt must have (below half)."""
    return counted is not None and estimate >= _LEAST and counted < estimate / 2
