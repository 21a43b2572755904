"""One call over HTTP: sent, timed, tried again while the trouble is the transport's, never answered twice."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.llm.endpoints import Endpoint, ServedModel
from pipeline.llm.interface import Reply, Status
from pipeline.llm.protocols import PROTOCOLS, Trouble, storable, trouble
from pipeline.llm.request import Request
from pipeline.llm.schedule import Pool
from pipeline.llm.writer import Writer

# A reply is bounded by its token budget; this bounds what a broken server may send.
_MOST_BYTES = 64 * 2**20
# So much of what a server says beside the point is looked at, and so much of it told.
_LOOKED_AT = 2000
_TOLD = 500


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, of the first call to a server (it loads the model), of patience with servers that
    are away, of waiting for calls in flight after Ctrl-C; and how often a broken or timed-out call is tried.
    """

    call: float = 300.0
    first_call: float = 900.0
    patience: float = 600.0
    drain: float = 10.0
    tries_broken: int = 6
    tries_timeout: int = 2


@dataclass(frozen=True)
class Failure:
    """No reply, and why: nothing for the ledger."""

    status: Status
    why: str


@dataclass(frozen=True)
class _Problem:
    kind: Trouble
    why: str
    away: bool = False
    timed_out: bool = False
    unreadable: bool = False
    retry_after: float | None = None


class Transport:
    """Sends the calls of one ask() to a model's servers."""

    def __init__(
        self, model: ServedModel, pool: Pool, timing: Timing, session: aiohttp.ClientSession, writer: Writer
    ) -> None:
        self._model = model
        self._wire = PROTOCOLS[model.protocol]
        self._pool = pool
        self._timing = timing
        self._session = session
        self._writer = writer
        if self._wire.load:
            # Since the last ask() time went by and other models were asked: this one may have been unloaded.
            for endpoint in pool.endpoints:
                endpoint.warm = False

    async def call(self, request: Request, key: str) -> Reply | Failure | None:
        """The reply to a request, or why there is none; None when the run is braked while waiting for a slot.

        Raises PrerequisiteError or ConfigError for what no other call would survive either.
        """
        body = json.dumps(self._wire.body(self._model, request), ensure_ascii=False).encode(
            "utf-8", "replace"
        )
        broken = timeouts = 0
        while True:
            endpoint = await self._pool.take()
            if endpoint is None:
                return None
            answered = endpoint.answers
            try:
                outcome = await self._send(endpoint, request, body)
            finally:
                self._pool.give_back(endpoint)
            if isinstance(outcome, Reply):
                self._pool.answered(endpoint)
                self._pool.reply_came()
                return outcome
            outcome = _tellable(endpoint, outcome)
            self._note(endpoint, key, outcome)
            fatal = _FATAL.get(outcome.kind)
            if fatal:
                raise fatal(self._model, endpoint, outcome.why)
            if outcome.kind in _OF_THE_PROMPT:
                self._pool.answered(endpoint)
                return Failure(_OF_THE_PROMPT[outcome.kind], outcome.why)
            if outcome.kind is Trouble.REJECTED:
                self._pool.answered(endpoint)
                return self._lost(Status.SERVER_ERROR, outcome.why)
            # One row on which a server breaks must not stop it for all: others were answered meanwhile.
            own = not outcome.away and endpoint.answers > answered
            if not own:
                self._pool.failed(endpoint, outcome.why, away=outcome.away, retry_after=outcome.retry_after)
            # What never gave an answer of its kind, often enough, is another kind of server.
            if outcome.unreadable and not endpoint.answers and endpoint.failures >= self._timing.tries_broken:
                raise _other_server(self._model, endpoint, outcome.why)
            timeouts += outcome.timed_out
            broken += not outcome.away and not outcome.timed_out
            if timeouts >= self._timing.tries_timeout:
                return self._lost(Status.TIMEOUT, outcome.why)
            if broken >= self._timing.tries_broken:
                return self._lost(Status.SERVER_ERROR, outcome.why)
            if own:
                await self._pool.rest(broken + timeouts - 1)

    async def _send(self, endpoint: Endpoint, request: Request, body: bytes) -> Reply | _Problem:
        if not endpoint.warm and self._wire.load:
            loaded = await self._post(endpoint, _json(self._wire.load(self._model, request)))
            if isinstance(loaded, _Problem):
                return loaded
            self._pool.answered(endpoint)
        started = time.monotonic()
        raw = await self._post(endpoint, body)
        if isinstance(raw, _Problem):
            return raw
        try:
            reply = self._wire.reply(json.loads(raw))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            said = raw[:_LOOKED_AT].decode("utf-8", "replace")
            why = f"the answer cannot be read: {type(error).__name__}: {error}: {said!r}"
            return _Problem(Trouble.BROKEN, why, unreadable=True)
        server = " ".join(filter(None, (endpoint.server, reply.server)))
        return replace(reply, server=server, seconds=round(time.monotonic() - started, 3))

    async def _post(self, endpoint: Endpoint, body: bytes) -> bytes | _Problem:
        seconds = self._timing.call if endpoint.warm else self._timing.first_call
        headers = {"Content-Type": "application/json"}
        if endpoint.api_key:
            headers["Authorization"] = f"Bearer {endpoint.api_key}"
        try:
            async with self._session.post(
                endpoint.address + self._wire.path,
                data=body,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=30),
                # Followed, most redirects turn a call into a GET, and lose the key.
                allow_redirects=False,
            ) as response:
                raw = await _bounded(response)
                return raw if response.status == 200 else _refused(response, raw)
        except aiohttp.ClientConnectorError as error:
            endpoint.warm = False  # once it is back it loads its model again
            return _Problem(Trouble.BUSY, f"cannot be reached: {error}", away=True)
        except TimeoutError:
            return _Problem(Trouble.BROKEN, f"no answer within {seconds:g} s", timed_out=True)
        except aiohttp.ClientResponseError as error:
            # Its repr shows the headers that were sent.
            return _Problem(Trouble.BROKEN, f"the answer is not HTTP: {' '.join(error.message.split())}")
        except (aiohttp.ClientError, OSError) as error:
            return _Problem(Trouble.BROKEN, f"the connection broke: {error!r}")

    def _note(self, endpoint: Endpoint, key: str, problem: _Problem) -> None:
        self._writer.event(
            model=self._model.identity,
            key=key,
            server=endpoint.server,
            kind=problem.kind.value,
            detail=problem.why,
        )

    def _lost(self, status: Status, why: str) -> Failure:
        self._pool.lost(why)
        return Failure(status, why)


def _tellable(endpoint: Endpoint, problem: _Problem) -> _Problem:
    """A server may quote what it was sent, the key too, which must not be cut before it is found."""
    why = problem.why.replace(endpoint.api_key, "***") if endpoint.api_key else problem.why
    return replace(problem, why=storable(why)[:_TOLD])


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > _MOST_BYTES:
            response.close()
            raise aiohttp.ClientPayloadError(f"the answer is longer than {_MOST_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _refused(response: aiohttp.ClientResponse, raw: bytes) -> _Problem:
    text = raw[:_LOOKED_AT].decode("utf-8", "replace")
    kind = trouble(response.status, text)
    if kind is Trouble.MOVED:
        text = f"to {response.headers.get('Location', 'no address')}"
    wait = response.headers.get("Retry-After", "")
    return _Problem(
        kind,
        f"HTTP {response.status}: {text}",
        away=kind is Trouble.BUSY,
        retry_after=float(wait) if wait.isdecimal() else None,
    )


def _missing(model: ServedModel, endpoint: Endpoint, why: str) -> PrerequisiteError:
    fix = (
        f"type: ollama pull {model.model}" if model.protocol == "ollama" else "check the name in the profile"
    )
    return PrerequisiteError(f"{endpoint.address} does not have model {model.model}: {fix} ({why})")


def _other_server(model: ServedModel, endpoint: Endpoint, why: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"{endpoint.address} does not answer as a server of model {model.name} does: {why}. Check its "
        "address in the profile"
    )


def _key_refused(model: ServedModel, endpoint: Endpoint, why: str) -> PrerequisiteError:
    if not endpoint.api_key:
        return PrerequisiteError(
            f"{endpoint.address} refuses calls of model {model.name}, which carry no API key ({why}): where "
            "it wants one, give backend openai and api_key_variable in the profile"
        )
    # Such answers quote the key, or parts of it.
    return PrerequisiteError(
        f"{endpoint.address} refuses the API key for model {model.name}: check the variable it is in"
    )


def _moved(model: ServedModel, endpoint: Endpoint, why: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"{endpoint.address} sends calls of model {model.name} elsewhere ({why}): give the address they are "
        "sent to in the profile"
    )


def _bad_setting(model: ServedModel, endpoint: Endpoint, why: str) -> ConfigError:
    return ConfigError(f"model {model.name} at {endpoint.address} cannot do what the profile asks for: {why}")


_OF_THE_PROMPT = {Trouble.TOO_LONG: Status.PROMPT_TOO_LONG, Trouble.REFUSED: Status.REFUSED}
_FATAL: dict[Trouble, Any] = {
    Trouble.MISSING_MODEL: _missing,
    Trouble.KEY_REFUSED: _key_refused,
    Trouble.MOVED: _moved,
    Trouble.BAD_SETTING: _bad_setting,
}
