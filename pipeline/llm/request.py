"""What decides an answer: sampling options, the canonical request, its seed and its key in the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from pipeline.llm.interface import Ask, Message
from pipeline.params import Params
from pipeline.store.files import canonical_json, digest_text

# Ollama takes a negative seed for "random" and older servers took 0 so; 1 means 1 everywhere.
SEED_AT_ZERO = 1


class ChatOptions(Params):
    """How a model is sampled and how often it is asked again.

    ``max_tokens`` is the first output budget; a reply that used it up is asked again with ``budget_growth``
    times as much, never more than ``num_ctx``. ``max_attempts`` counts the first one.
    """

    temperature: float = Field(ge=0, le=2)
    max_tokens: int = Field(ge=1)
    num_ctx: int = Field(default=8192, ge=256)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    min_p: float | None = Field(default=None, ge=0, le=1)
    repeat_penalty: float | None = Field(default=None, gt=0)
    think: bool | Literal["low", "medium", "high"] | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    top_logprobs: int | None = Field(default=None, ge=1, le=20)
    run_seed: int = 0
    max_attempts: int = Field(default=3, ge=1)
    budget_growth: float = Field(default=2.0, ge=1)

    @cached_property
    def sent(self) -> dict[str, Any]:
        """The options that reach the server, seed and budget apart."""
        return self.model_dump(
            mode="json",
            exclude={"max_tokens", "run_seed", "max_attempts", "budget_growth"},
            exclude_none=True,
        )

    def grown(self, budget: int) -> int:
        """The output budget after one that was used up."""
        return min(int(budget * self.budget_growth), self.num_ctx)

    def seed(self, row_id: str, sample: int, attempt: int) -> int:
        """The seed of one call: 31 bits of run seed, row, sample, attempt; constant at temperature 0."""
        if self.temperature == 0:
            return SEED_AT_ZERO
        text = canonical_json([self.run_seed, row_id, sample, attempt])
        return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]) & 0x7FFFFFFF


@dataclass(frozen=True)
class Request:
    """One call, free of the wire it goes over."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    options: ChatOptions
    seed: int
    budget: int


def request_key(
    identity: str, ask: Ask, options: ChatOptions, *, schema_digest: str, budget: int, attempt: int
) -> str:
    """Hex sha256 of the canonical JSON of model identity, request, sample and attempt.

    The schema stands in it by its digest: it is the same for thousands of asks.
    """
    request = {
        **options.sent,
        "messages": [[message.role, message.content] for message in ask.messages],
        "schema": schema_digest,
        "seed": options.seed(ask.row_id, ask.sample, attempt),
        "budget": budget,
    }
    return digest_text(
        canonical_json({"model": identity, "request": request, "sample": ask.sample, "attempt": attempt})
    )
