"""One ask on its way to an answer: which call comes next, and when it is over."""

from __future__ import annotations

from pipeline.llm.interface import Answer, Ask, Reply, Status
from pipeline.llm.replies import WANTS_BUDGET, WANTS_SEED, Verdict, judge_reply
from pipeline.llm.request import ChatOptions, Request, request_key
from pipeline.llm.schemas import CompiledSchema
from pipeline.llm.tokens import estimate_tokens, surely_too_long


class Job:
    """The attempts of one ask. ``verdict`` is None while another call is needed, under ``key``.

    What comes next depends on the replies alone, so a run that replays them from the ledger goes on exactly
    where an earlier one ended.
    """

    def __init__(self, ask: Ask, options: ChatOptions, identity: str, schema: CompiledSchema | None) -> None:
        self.ask = ask
        self.attempt = 0
        self.made = False
        self.verdict: Verdict | None = None
        self._options = options
        self._identity = identity
        self._schema = schema
        self._budget = min(options.max_tokens, options.num_ctx)
        self._replies: list[Reply] = []
        self._estimate = estimate_tokens(ask.messages)
        self.key = self._key()
        if surely_too_long(self._estimate, options.num_ctx):
            why = f"about {self._estimate} tokens do not fit in num_ctx {options.num_ctx}"
            self.verdict = Verdict(Status.PROMPT_TOO_LONG, why=why)

    @property
    def unheard(self) -> bool:
        """True when the ask is over without any reply, for no reason of its own."""
        return self.verdict is not None and not self.verdict.status.lasting and not self._replies

    def request(self) -> Request:
        """The call that comes next."""
        seed = self._options.seed(self.ask.row_id, self.ask.sample, self.attempt)
        return Request(self.ask.messages, self.ask.schema, self._options, seed, self._budget)

    def take(self, reply: Reply, *, made: bool) -> None:
        """Take the reply to the call under ``key``; ``made``: a call was made for it now."""
        self.made = self.made or made
        self._replies.append(reply)
        verdict = judge_reply(reply, self._schema, self.ask.check, self._estimate, self._options.num_ctx)
        grown = self._options.grown(self._budget) if verdict.status in WANTS_BUDGET else self._budget
        # At temperature 0 the seed is constant: only another budget makes another question.
        again = verdict.status in WANTS_SEED if self._options.temperature else grown != self._budget
        if not again or self.attempt + 1 >= self._options.max_attempts:
            self.verdict = verdict
            return
        self.attempt += 1
        self._budget = grown
        self.key = self._key()

    def fail(self, status: Status, why: str) -> None:
        """No reply came: the ask is over for this run, the next run asks again."""
        self.made = True
        self.verdict = Verdict(status, why=why)

    def answer(self) -> Answer:
        """The answer, once there is a verdict."""
        verdict = self.verdict or Verdict(Status.SERVER_ERROR, why="never asked")
        return Answer(
            self.ask.row_id,
            verdict.status,
            verdict.value,
            verdict.why,
            tuple(self._replies),
            reused=not self.made,
        )

    def _key(self) -> str:
        return request_key(
            self._identity,
            self.ask,
            self._options,
            schema_digest=self._schema.digest if self._schema else "",
            budget=self._budget,
            attempt=self.attempt,
        )
