"""Tokens a second through the model layer against a bare client loop, on a real server with a real model.

    OLLAMA_BIN=... python -m bench.ollama_throughput [--backend ollama|embedded] [--calls 300] [--slots 8]

The same requests go both ways, in alternating blocks so that a noisy machine hits both alike. The goal is
0.9 of the bare loop's rate. One JSON line a block, one for the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from pipeline.llm.chat import LedgerChat
from pipeline.llm.embedded import EmbeddedServer, embedded_model
from pipeline.llm.endpoints import ServedModel
from pipeline.llm.interface import Ask, Message
from pipeline.llm.jobs import Job
from pipeline.llm.ledger import Ledger
from pipeline.llm.protocols import PROTOCOLS
from pipeline.llm.request import ChatOptions
from pipeline.llm.servers import ollama_model
from tests.servers.real_ollama import CHAT_MODEL, ollama_server

OPTIONS = ChatOptions(temperature=0.8, max_tokens=32, num_ctx=512, max_attempts=1)
_SCHEMA = {
    "type": "object",
    "properties": {"theme": {"type": "string", "maxLength": 60}},
    "required": ["theme"],
    "additionalProperties": False,
}
_BLOCKS = 5


def asks(first: int, count: int) -> list[Ask]:
    """Distinct structured questions."""
    return [
        Ask(f"row-{i}", (Message("user", f"Name a theme for proverb number {i}, in JSON."),), _SCHEMA)
        for i in range(first, first + count)
    ]


async def bare(model: ServedModel, questions: Sequence[Ask], slots: int) -> int:
    """A plain aiohttp loop; gives back the tokens generated."""
    wire = PROTOCOLS[model.protocol]
    (endpoint,) = model.endpoints()
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    waiting = iter(wire.body(model, Job(ask, OPTIONS, "x", None).request()) for ask in questions)
    tokens = 0

    async with aiohttp.ClientSession(headers=headers) as session:

        async def work() -> None:
            nonlocal tokens
            for body in waiting:
                async with session.post(endpoint.address + wire.path, json=body) as response:
                    tokens += wire.reply(await response.json()).completion_tokens or 0

        await asyncio.gather(*(work() for _ in range(slots)))
    return tokens


def layer(model: ServedModel, questions: Sequence[Ask], ledger: Path) -> int:
    """The same through the layer."""
    opened = Ledger(ledger)
    chat = LedgerChat(model, OPTIONS, opened)
    chat.ask(questions)
    opened.close()
    return chat.counts.completion_tokens


@contextmanager
def on_ollama(folder: Path, slots: int) -> Iterator[ServedModel]:
    with ollama_server(folder) as server:
        server.create_chat_model()
        yield ollama_model("bench", CHAT_MODEL, [server.address], slots=slots)


@contextmanager
def on_embedded(folder: Path, slots: int) -> Iterator[ServedModel]:
    server = EmbeddedServer(folder, num_ctx=OPTIONS.num_ctx, parallel=slots)
    yield embedded_model("bench", server)
    server.close()


BACKENDS = {"ollama": on_ollama, "embedded": on_embedded}


def measure(backend: str, calls: int, slots: int) -> Iterator[dict[str, Any]]:
    """Both ways in alternating blocks; one line a block, and the ratio last."""
    folder = Path(tempfile.mkdtemp(prefix="adage-bench-"))
    size = calls // _BLOCKS
    tokens = {"bare": 0, "layer": 0}
    seconds = {"bare": 0.0, "layer": 0.0}
    try:
        with BACKENDS[backend](folder, slots) as model:
            asyncio.run(bare(model, asks(-slots, slots), slots))  # loads the model
            for block in range(_BLOCKS):
                questions = asks(block * size, size)
                turns: dict[str, Callable[[], int]] = {
                    "bare": lambda questions=questions: asyncio.run(bare(model, questions, slots)),  # type: ignore[misc]
                    "layer": lambda questions=questions: layer(model, questions, folder / "ledger.sqlite"),  # type: ignore[misc]
                }
                for name in list(turns) if block % 2 else reversed(turns):
                    started = time.perf_counter()
                    tokens[name] += turns[name]()
                    seconds[name] += time.perf_counter() - started
                rates = {name: round(tokens[name] / seconds[name], 2) for name in tokens}
                yield {"backend": backend, "block": block, "tokens_per_second": rates}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ratio = round(tokens["layer"] / seconds["layer"] / (tokens["bare"] / seconds["bare"]), 4)
    yield {
        "check": f"{backend}_tokens_per_second",
        "calls": calls,
        "slots": slots,
        "ratio": ratio,
        "goal": 0.9,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--backend", choices=sorted(BACKENDS), default="ollama")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--slots", type=int, default=8)
    given = parser.parse_args()
    for line in measure(given.backend, given.calls, given.slots):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
