"""A scripted model server: real HTTP on loopback, Ollama's and OpenAI's protocol, faults on demand.

What it replies depends on messages, schema and seed only. In a process of its own:
``python -m tests.servers.scripted --port N``; such a server is told of faults by ``--script`` or with
``POST /_script`` (``{"next": [...], "when": {"text": "fault"}, "busy_seconds": 2}``), of what it is to say by
``--responder module:function``, and tells its calls with ``GET /_script``.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import pkgutil
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.servers import wire
from tests.servers.embeddings import embedding
from tests.servers.exchange import Asked, Responder, Said, count_tokens, plain_responder
from tests.servers.faults import CHANGES, END, ENDS

OLLAMA_VERSION = "0.17.4"


@dataclass(frozen=True)
class Recorded:
    """One request as it came: path, JSON body, headers, and the fault it met (None: answered well)."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    fault: str | None


class ScriptedServer:
    """Runs in its own thread between ``start`` and ``stop``; a context manager does both.

    ``context``: tokens that fit, as Ollama counts them (``num_ctx`` in a body goes first). ``delay``: seconds
    a reply takes. ``logprobs`` and ``thinking``: whether the server can. ``most_at_once``: more get a 503.
    ``keys``: accepted API keys, empty for any.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        models: Sequence[str] = ("scripted", "judge-a", "judge-b", "judge-c", "embedder"),
        responders: Sequence[Responder] = (),
        context: int = 8192,
        delay: float = 0.0,
        logprobs: bool = True,
        thinking: bool = False,
        most_at_once: int = 10_000,
        keys: Sequence[str] = (),
    ) -> None:
        self.models = list(models)
        self.responders = list(responders)
        self.context = context
        self.delay = delay
        self.logprobs = logprobs
        self.thinking = thinking
        self.most_at_once = most_at_once
        self.keys = list(keys)
        self.requests: list[Recorded] = []
        self.busiest = 0
        self._port = port
        self._busy_until = 0.0
        self._in_flight = 0
        self._next: deque[str] = deque()
        self._when: dict[str, tuple[str, int]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._up = threading.Event()
        self._runner: web.AppRunner | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def chats(self) -> list[Recorded]:
        """The chat requests so far; a call without messages only loads the model and does not count."""
        return [
            request for request in self.requests if request.path in wire.CHATS and request.body["messages"]
        ]

    def fail_next(self, *faults: str) -> None:
        """Let the next chat calls meet these faults, one each."""
        self._next.extend(faults)

    def fail_when(self, text: str, fault: str, times: int = 1_000_000) -> None:
        """Let chat calls whose messages hold ``text`` meet a fault, so many times."""
        self._when[text] = (fault, times)

    def busy_for(self, seconds: float) -> None:
        """Answer every chat call with 503 for a while."""
        self._busy_until = time.monotonic() + seconds

    def heal(self) -> None:
        """No more faults."""
        self._next.clear()
        self._when.clear()

    def follow(self, script: Mapping[str, Any]) -> None:
        """Take a script of faults, as ``POST /_script`` brings it."""
        self.fail_next(*script.get("next", []))
        self.busy_for(script.get("busy_seconds", 0))
        for text, fault in script.get("when", {}).items():
            self.fail_when(text, fault)

    def start(self) -> ScriptedServer:
        """Start, or start again on the same port."""
        self._up.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._up.wait(30), "the scripted server did not start"
        return self

    def stop(self) -> None:
        """Stop at once: calls in flight break, the port refuses."""
        assert self._loop
        assert self._thread
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._in_flight = 0
        app = web.Application(client_max_size=2**26)
        app[END] = self._end
        app.add_routes(
            [
                web.get("/api/version", self._version),
                web.get("/api/tags", self._tags),
                web.post("/api/show", self._show),
                web.get("/v1/models", self._list),
                web.post("/api/embed", self._embed),
                web.post("/v1/embeddings", self._embed),
                web.post("/_script", self._script),
                web.get("/_script", self._told),
                *(web.post(path, self._chat) for path in wire.CHATS),
            ]
        )
        runner = web.AppRunner(app, shutdown_timeout=0.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, reuse_address=True)
        await site.start()
        self._port = runner.addresses[0][1]
        self._up.set()
        await self._end.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self._in_flight += 1
        self.busiest = max(self.busiest, self._in_flight)
        try:
            return await self._answer(request)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        protocol = wire.CHATS[request.path]
        asked = protocol.asked(body)
        fault = self._fault(asked) if asked.messages else None
        self.requests.append(Recorded(request.path, body, dict(request.headers), fault))
        if self.keys and request.headers.get("Authorization") not in {f"Bearer {key}" for key in self.keys}:
            sent = request.headers.get("Authorization")
            return web.json_response({"error": {"message": f"invalid API key: {sent}"}}, status=401)
        if body["model"].removesuffix(":latest") not in self.models:
            return web.json_response({"error": f"model '{body['model']}' not found"}, status=404)
        if not asked.messages:
            return web.json_response(protocol.answer(body, Said("", finish="load"), False))
        if self._in_flight > self.most_at_once or time.monotonic() < self._busy_until:
            fault = "busy"
        if fault in ENDS:
            return await ENDS[fault](request)
        if body.get("think") and not self.thinking:
            return web.json_response({"error": f'"{body["model"]}" does not support thinking'}, status=400)
        window = protocol.window(body) or self.context
        prompt_tokens = count_tokens(asked.text)
        if prompt_tokens > window and body.get("truncate") is False:
            return web.json_response({"error": "the input length exceeds the context length"}, status=400)
        if self.delay:
            await asyncio.sleep(self.delay)
        said = self._say(asked, protocol.budget(body))
        if fault in CHANGES:
            said = CHANGES[fault](asked, said)
        if said.prompt_tokens is None:
            said = replace(said, prompt_tokens=min(prompt_tokens, window))
        return web.json_response(protocol.answer(body, said, self.logprobs))

    def _say(self, asked: Asked, budget: int | None) -> Said:
        answers = (responder(asked) for responder in self.responders)
        content = next((answer for answer in answers if answer is not None), None)
        if content is None:
            content = plain_responder(asked)
        if budget is not None and count_tokens(content) > budget:
            return Said(content[: budget * 3], finish="length")
        return Said(content)

    def _fault(self, asked: Asked) -> str | None:
        for text, (fault, times) in self._when.items():
            if text in asked.text and times > 0:
                self._when[text] = (fault, times - 1)
                return fault
        return self._next.popleft() if self._next else None

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": OLLAMA_VERSION})

    async def _tags(self, request: web.Request) -> web.Response:
        models = [
            {"name": f"{name}:latest", "model": f"{name}:latest", "digest": digest_of(name)}
            for name in self.models
        ]
        return web.json_response({"models": models})

    async def _show(self, request: web.Request) -> web.Response:
        name = (await request.json())["model"].removesuffix(":latest")
        if name not in self.models:
            return web.json_response({"error": f"model '{name}' not found"}, status=404)
        abilities = ["completion", *(["thinking"] if self.thinking else [])]
        info = {"general.architecture": "scripted", "scripted.context_length": self.context}
        return web.json_response({"model_info": info, "capabilities": abilities, "details": {}})

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})

    async def _embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(Recorded(request.path, body, dict(request.headers), None))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        vectors = [embedding(text) for text in texts]
        if request.path.startswith("/api"):
            return web.json_response({"model": body["model"], "embeddings": vectors})
        data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        return web.json_response({"object": "list", "data": data, "model": body["model"]})

    async def _script(self, request: web.Request) -> web.Response:
        self.follow(await request.json())
        return web.json_response({})

    async def _told(self, request: web.Request) -> web.Response:
        chats = [{"body": chat.body, "fault": chat.fault} for chat in self.chats]
        return web.json_response({"calls": len(chats), "busiest": self.busiest, "chats": chats})


def digest_of(model: str) -> str:
    """The digest a scripted server gives a model of this name."""
    return hashlib.sha256(model.encode()).hexdigest()


def main() -> None:
    """Serve until killed; prints the address once it listens."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--most-at-once", type=int, default=10_000)
    parser.add_argument("--script", type=json.loads, default={})
    parser.add_argument("--responder", type=pkgutil.resolve_name, action="append", default=[])
    given = parser.parse_args()
    server = ScriptedServer(
        port=given.port, delay=given.delay, most_at_once=given.most_at_once, responders=given.responder
    )
    server.follow(given.script)
    server.start()
    print(server.address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
