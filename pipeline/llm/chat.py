"""A chat whose every reply is in the ledger before it is used, and which never asks for one it holds."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from pipeline.llm.endpoints import Endpoint, ServedModel
from pipeline.llm.interface import Answer, Ask, Reply
from pipeline.llm.jobs import Job
from pipeline.llm.ledger import Entry, Ledger
from pipeline.llm.limits import Brake, CallLimits, Progress, ProgressCallback
from pipeline.llm.replies import separate_thinking
from pipeline.llm.request import ChatOptions
from pipeline.llm.schedule import Pool, no_reply
from pipeline.llm.schemas import Schemas
from pipeline.llm.transport import Failure, Timing, Transport
from pipeline.llm.writer import Writer
from pipeline.store.files import canonical_json

_BETWEEN_REPORTS = 0.2
# Replies come in waves, and each makes room for a call: those go out before any reply is judged.
_BEFORE_JUDGING = 0.01
# One or two rows without a reply may be refused for what they say; the others go on without them.
_ENOUGH_TO_BLAME = 3


@dataclass
class Counts:
    """What a chat has done so far: calls made and replies reused, tokens of calls made, answers by status.

    ``with_thinking``, ``without_logprobs`` and ``servers`` count replies, made or reused.
    """

    made: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    with_thinking: int = 0
    without_logprobs: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    servers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Held:
    """What a ledger holds for some asks: each one's answer, or None where a call is needed.

    ``calls`` are those needed when every reply will do, ``most`` when all must be asked again to the last.
    """

    answers: tuple[Answer | None, ...]
    calls: int
    most: int


class LedgerChat:
    """Implements Chat on a served model and a ledger."""

    def __init__(
        self,
        model: ServedModel,
        options: ChatOptions,
        ledger: Ledger,
        *,
        timing: Timing | None = None,
        progress: ProgressCallback | None = None,
        limits: CallLimits | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._ledger = ledger
        self._timing = timing or Timing()
        self._progress = progress
        self._limits = limits
        self._stop = stop
        self._endpoints: Sequence[Endpoint] | None = None
        self.counts = Counts()

    @property
    def name(self) -> str:
        """The model's name as the profile gives it."""
        return self._model.name

    @property
    def identity(self) -> str:
        """Model identity and every option that decides an answer."""
        options = self._options.model_dump(mode="json", exclude_none=True)
        return f"{self._model.identity} {canonical_json(options)}"

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the run manifest: model, options, and what this run asked of it."""
        counts = self.counts
        return {
            "name": self._model.name,
            "model": self._model.model,
            "identity": self._model.identity,
            **self._model.facts,
            "options": self._options.model_dump(mode="json", exclude_none=True),
            "calls": {"made": counts.made, "reused": counts.reused},
            "tokens": {"prompt": counts.prompt_tokens, "completion": counts.completion_tokens},
        }

    @property
    def seen(self) -> Mapping[str, Any]:
        """For a stage's manifest: what its replies, made or reused, showed of the servers and their models.

        A model may think although it was told not to, so the setting that was effective is one of these.
        """
        counts = self.counts
        replies = counts.made + counts.reused
        seen: dict[str, Any] = {
            "replies": replies,
            "answers": dict(counts.answers),
            "servers": dict(counts.servers),
            "thinking": {
                "asked": self._options.think,
                "effective": (counts.with_thinking > 0) if replies else None,
                "replies_with": counts.with_thinking,
            },
        }
        if self._options.logprobs:
            seen["logprobs"] = (
                f"unsupported by this server ({counts.without_logprobs} replies without)"
                if counts.without_logprobs
                else "given"
            )
        return seen

    def calls_needed(self, asks: Sequence[Ask]) -> int:
        """How many of these asks the ledger cannot answer; makes no call."""
        return self.held(asks).calls

    def held(self, asks: Sequence[Ask]) -> Held:
        """What the ledger says to these asks; makes no call."""
        round_ = _Round(self, asks, Counts(), None)
        live = round_.replay()
        left = [self._options.max_attempts - job.attempt for job in live]
        return Held(tuple(round_.known()), len(live), sum(left))

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        """Answer every ask, in order, from the ledger where it holds the reply and from the servers else.

        Raises Interrupted, CallLimitReached, LedgerError, or PrerequisiteError and ConfigError for what no
        call would survive; all replies that came back before are in the ledger.
        """
        round_ = _Round(self, asks, self.counts, self._progress)
        live = round_.replay()
        if live:
            self._endpoints = self._endpoints or self._model.endpoints()
            asyncio.run(round_.run(live, self._endpoints))
        round_.report(last=True)
        return round_.answers()


class _Round:
    """One ask(): its jobs, first played from the ledger, then run."""

    def __init__(
        self, chat: LedgerChat, asks: Sequence[Ask], counts: Counts, progress: ProgressCallback | None
    ) -> None:
        self._chat = chat
        self._model, self._options = chat._model, chat._options
        self._counts = counts
        self._progress = progress
        schemas = Schemas()
        self._jobs = [Job(ask, self._options, self._model.identity, schemas.get(ask.schema)) for ask in asks]
        self._brake = Brake(chat._limits, chat._stop)
        self._done = self._reused = self._tokens = 0
        self._groups: dict[str, list[Job]] = {}
        self._queue: deque[str] = deque()
        self._came: asyncio.Queue[tuple[list[Job], Reply | Failure]] = asyncio.Queue()
        self._started = self._reported = time.monotonic()

    def replay(self) -> list[Job]:
        """Play the ledger's replies; gives back the jobs that need a call, same prefixes together."""
        open_jobs, live = self._jobs, []
        while open_jobs:
            waiting = [job for job in open_jobs if not self._finished(job)]
            known = self._chat._ledger.known(job.key for job in waiting)
            open_jobs = []
            for job in waiting:
                reply = known.get(job.key)
                if reply is None:
                    live.append(job)
                    continue
                job.take(reply, made=False)
                self._count(reply, made=False)
                open_jobs.append(job)
        prefixes: dict[Any, list[Job]] = {}
        for job in live:
            prefixes.setdefault(job.ask.messages[:-1], []).append(job)
        return [job for group in prefixes.values() for job in group]

    async def run(self, live: list[Job], endpoints: Sequence[Endpoint]) -> None:
        """Make the calls that are left."""
        for job in live:
            self._enqueue(job)
        pool = Pool(endpoints, self._chat._timing.patience, lambda: self._brake.interrupted)
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            Writer(self._chat._ledger) as writer,
        ):
            transport = Transport(self._model, pool, self._chat._timing, session, writer)
            workers = [
                asyncio.create_task(self._work(transport, writer))
                for _ in range(min(pool.slots, len(self._queue)))
            ]
            judge = asyncio.create_task(self._judge())
            try:
                await self._all_done(workers, judge)
                await self._came.join()
            finally:
                for task in (*workers, judge):
                    task.cancel()
                await asyncio.gather(*workers, judge, return_exceptions=True)
        if self._done < len(self._jobs):
            error = self._brake.error(self._model.name, self._done, len(self._jobs))
            if error:
                raise error
        if len(self._jobs) >= _ENOUGH_TO_BLAME and all(job.unheard for job in self._jobs):
            places = ", ".join(endpoint.address for endpoint in endpoints)
            asked = f"model {self._model.name} at {places}: none of {len(self._jobs)} asks got a reply"
            raise no_reply(asked, self._jobs[-1].answer().why)

    def known(self) -> list[Answer | None]:
        """What is answered so far, in the order of the asks."""
        return [job.answer() if job.verdict else None for job in self._jobs]

    def answers(self) -> list[Answer]:
        """One answer a job, in the order of the asks."""
        return [job.answer() for job in self._jobs]

    def report(self, last: bool = False) -> None:
        """Tell the progress callback, not too often."""
        now = time.monotonic()
        if self._progress is None or (not last and now - self._reported < _BETWEEN_REPORTS):
            return
        self._reported = now
        live = self._done - self._reused
        left = (now - self._started) / live * (len(self._jobs) - self._done) if live else None
        self._progress(Progress(self._done, len(self._jobs), self._reused, self._tokens, left))

    async def _all_done(self, workers: list[asyncio.Task[None]], judge: asyncio.Task[None]) -> None:
        pending = set(workers)
        drain_until: float | None = None
        while pending:
            done, pending = await asyncio.wait(
                {*pending, judge}, timeout=0.2, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            pending.discard(judge)
            self.report()
            if self._brake.interrupted:
                drain_until = drain_until or time.monotonic() + self._chat._timing.drain
                if time.monotonic() >= drain_until:
                    return

    async def _work(self, transport: Transport, writer: Writer) -> None:
        """Make calls one after another; a reply is judged when the next call is already under way."""
        while await self._more() and self._brake.may_call():
            key = self._queue.popleft()
            job = self._groups[key][0]
            outcome = await transport.call(job.request(), key)
            if outcome is None:
                return
            if isinstance(outcome, Reply):
                self._tokens += outcome.completion_tokens or 0
                entry = Entry(key, self._model.identity, job.ask.row_id, job.ask.sample, job.attempt, outcome)
                outcome = await writer.save(entry)
            self._came.put_nowait((self._groups.pop(key), outcome))

    async def _more(self) -> bool:
        if not self._queue:
            await self._came.join()  # what came back may be asked again
        return bool(self._queue)

    async def _judge(self) -> None:
        while True:
            waited = self._came.empty()
            jobs, outcome = await self._came.get()
            if waited:
                await asyncio.sleep(_BEFORE_JUDGING)
            for job in jobs:
                if isinstance(outcome, Failure):
                    job.fail(outcome.status, outcome.why)
                else:
                    job.take(outcome, made=job is jobs[0])
                    self._count(outcome, made=job is jobs[0])
                if not self._finished(job):
                    self._enqueue(job, first=True)
            self._came.task_done()
            await asyncio.sleep(0)  # replies that came meanwhile go first

    def _enqueue(self, job: Job, first: bool = False) -> None:
        # Two rows may ask the very same question: one call serves both.
        if job.key in self._groups:
            self._groups[job.key].append(job)
            return
        self._groups[job.key] = [job]
        (self._queue.appendleft if first else self._queue.append)(job.key)

    def _finished(self, job: Job) -> bool:
        if job.verdict is None:
            return False
        self._done += 1
        self._reused += not job.made
        self._counts.answers[str(job.verdict.status)] += 1
        self.report()
        return True

    def _count(self, reply: Reply, *, made: bool) -> None:
        counts = self._counts
        counts.made += made
        counts.reused += not made
        if made:
            counts.prompt_tokens += reply.prompt_tokens or 0
            counts.completion_tokens += reply.completion_tokens or 0
        counts.servers[reply.server] += 1
        counts.with_thinking += bool(reply.thinking.strip() or separate_thinking(reply.content)[0])
        counts.without_logprobs += self._options.logprobs and reply.logprobs is None
