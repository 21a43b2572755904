"""What a scripted server can do wrong, by name."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

from aiohttp import web

from tests.servers.exchange import Asked, Said
from tests.servers.words import another_script, script_of, text_of

# Set when the server stops: nobody hangs any longer.
END = web.AppKey("end", asyncio.Event)
# A fault either changes what is said or ends the exchange in its own way.
Changes = Callable[[Asked, Said], Said]
Ends = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _other_language(asked: Asked, said: Said) -> Said:
    text = text_of(another_script(script_of(asked.last)), 20, random.Random(asked.last))
    return replace(said, content=text)


CHANGES: dict[str, Changes] = {
    "cut": lambda asked, said: replace(said, content=said.content[: len(said.content) // 2], finish="length"),
    "thinking": lambda asked, said: Said("", thinking="I should answer " + said.content),
    "blank_thinking": lambda asked, said: replace(said, thinking="\n\n"),
    "think_tags": lambda asked, said: replace(said, content=f"<think>maybe {{}}</think>{said.content}"),
    "open_think": lambda asked, said: replace(said, content="<think>let me see", finish="length"),
    "language": _other_language,
    "blanks": lambda asked, said: replace(said, content=said.content + "\n" * 2**20),
    "only_blanks": lambda asked, said: replace(said, content="\n" * 2**20),
    "empty": lambda asked, said: replace(said, content=""),
    "refuse": lambda asked, said: replace(said, content="", finish="content_filter"),
    "silent_cut": lambda asked, said: replace(said, prompt_tokens=3),
    "surrogate": lambda asked, said: replace(said, content='{"a": "\ud800"}'),
}


async def _busy(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "server busy, please try again"}, status=503)


async def _wait_a_second(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "too many requests"}, status=429, headers={"Retry-After": "1"})


async def _error(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "llama runner process has terminated"}, status=500)


async def _bad_request(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "this one I do not like"}, status=400)


async def _filtered(request: web.Request) -> web.StreamResponse:
    """Azure's filter, which looks at the prompt before any model does."""
    said = "The response was filtered due to the prompt triggering our content management policy."
    return web.json_response({"error": {"message": said, "code": "content_filter"}}, status=400)


async def _flagged(request: web.Request) -> web.StreamResponse:
    """A router's moderation, with the code that elsewhere means a wrong key."""
    said = {"message": "your input was flagged", "metadata": {"flagged_input": "..."}}
    return web.json_response({"error": said}, status=403)


async def _quote_key(request: web.Request) -> web.StreamResponse:
    """A proxy that tells in its error what it was sent, the key too."""
    return web.json_response({"error": f"upstream broke on {dict(request.headers)}"}, status=502)


async def _quote_key_late(request: web.Request) -> web.StreamResponse:
    """The same after so many words that whoever cuts them cuts the key."""
    return web.json_response({"error": "x" * 460 + request.headers["Authorization"]}, status=500)


async def _moved(request: web.Request) -> web.StreamResponse:
    raise web.HTTPTemporaryRedirect("https://elsewhere.example/v1")


async def _not_http(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.write(b"no status line\r\n\r\n")
    request.transport.close()
    return web.Response()


async def _deep(request: web.Request) -> web.StreamResponse:
    """JSON nested deeper than a reader may go."""
    return web.Response(text="[" * 200_000)


async def _binary(request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"\0\xff core dumped", status=500)


async def _garbage(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>proxy</html>")


async def _nothing(request: web.Request) -> web.StreamResponse:
    """All is well, says the server, and no more."""
    return web.Response()


async def _close(request: web.Request) -> web.StreamResponse:
    """Promise a long answer, send its beginning, cut the line."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "4000"})
    await response.prepare(request)
    await response.write(b'{"model": "scri')
    assert request.transport is not None
    request.transport.abort()
    return response


async def _hang(request: web.Request) -> web.StreamResponse:
    await request.app[END].wait()
    return web.Response()


ENDS: dict[str, Ends] = {
    "busy": _busy,
    "retry_after": _wait_a_second,
    "error": _error,
    "bad_request": _bad_request,
    "filtered": _filtered,
    "flagged": _flagged,
    "quote_key": _quote_key,
    "quote_key_late": _quote_key_late,
    "moved": _moved,
    "not_http": _not_http,
    "deep": _deep,
    "binary": _binary,
    "garbage": _garbage,
    "nothing": _nothing,
    "close": _close,
    "hang": _hang,
}
