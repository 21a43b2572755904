"""What the model layer costs over a bare client loop, and what a killed run repeats.

    python -m bench.model_layer [--runs 5] [--calls 2000] [--embedded-calls 60] [--out results.jsonl]

A mock server in its own process answers each chat call after 100 ms. The scenario stage makes 2,000 distinct
structured calls through the layer, 32 at a time; bare loops with aiohttp, httpx and the ollama client send
the same requests. All alternate within a run; ratios are taken within a run. One JSON line a run and check.
"layer" is the call phase, keys, ledger and checks included; "stage" adds the rendering of prompts. At the end
the embedded model's tokens a second through the layer and through a bare loop, on one server.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import ollama
import pyarrow as pa
from aiohttp import web

from bench.ollama_throughput import measure
from pipeline.capr.domains import DOMAINS
from pipeline.capr.scenarios import ScenarioParams, scenarios
from pipeline.language.language import load_language
from pipeline.llm.chat import LedgerChat
from pipeline.llm.endpoints import Endpoint, ServedModel
from pipeline.llm.interface import Answer, Ask
from pipeline.llm.jobs import Job
from pipeline.llm.ledger import Ledger
from pipeline.llm.protocols import ollama_body
from pipeline.llm.request import ChatOptions
from pipeline.prompts import load_prompt
from pipeline.store.tables import kept_table, write_table

ROOT = Path(__file__).resolve().parents[1]
SLOTS = 32
SECONDS = 0.1
OPTIONS = ChatOptions(temperature=1.0, max_tokens=200, num_ctx=8192, run_seed=1)
_TEXT = (
    "Mina waited beside the closed office while her brother counted empty boxes and phoned every supplier "
    "again because nobody had written down which orders were paid so the whole team stayed until midnight "
    "sorting receipts and promised that next month one person would keep the list"
)
_WORDS = _TEXT.split()


async def serve() -> None:
    """The mock server: prints its address, then answers until killed."""
    calls = 0

    async def chat(request: web.Request) -> web.Response:
        nonlocal calls
        body = await request.read()
        if not json.loads(body)["messages"]:
            return web.json_response({"message": {"content": ""}, "done": True, "done_reason": "load"})
        calls += 1
        await asyncio.sleep(SECONDS)
        digest = hashlib.sha512(body).digest()
        text = " ".join(_WORDS[byte % len(_WORDS)] for byte in digest[:30])
        answer = {
            "message": {"role": "assistant", "content": json.dumps({"scenario": text})},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 400,
            "eval_count": 40,
        }
        return web.json_response(answer)

    async def count(request: web.Request) -> web.Response:
        return web.json_response(calls)

    app = web.Application(client_max_size=2**24)
    app.add_routes([web.post("/api/chat", chat), web.get("/count", count)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


@contextmanager
def mock_server() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.model_layer", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class _Timed:
    """A chat that notes how long its calls take as a whole: the call phase, without the stage's rendering."""

    def __init__(self, inner: LedgerChat) -> None:
        self.inner, self.name, self.identity, self.seconds = inner, inner.name, inner.identity, 0.0

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        started = time.perf_counter()
        answers = self.inner.ask(asks)
        self.seconds = time.perf_counter() - started
        return answers


def run_stage(address: str, ledger: Path, calls: int) -> tuple[pa.Table, _Timed]:
    """The real scenario stage on the mock server."""
    model = ServedModel(
        "mock", "mock", "ollama:mock", "ollama", lambda: [Endpoint(address, SLOTS, server="mock")]
    )
    opened = Ledger(ledger)
    chat = _Timed(LedgerChat(model, OPTIONS, opened))
    result = scenarios(*_tables(calls), *_given(chat))
    opened.close()
    return kept_table("scenarios", result.rows), chat


def _tables(calls: int) -> tuple[pa.Table, pa.Table]:
    count = calls // len(DOMAINS)
    rows = [
        {
            "proverb_id": f"p{i}",
            "text": f"Proverb number {i} says what it says",
            "meaning": f"It means {i}",
            "selected": True,
        }
        for i in range(count)
    ]
    labels = [{"proverb_id": row["proverb_id"], "label": "a theme", "label_raw": "A theme"} for row in rows]
    return pa.Table.from_pylist(rows), pa.Table.from_pylist(labels)


def _given(chat: Any) -> tuple[Any, Any, Any, Any]:
    language = load_language(ROOT / "seeds" / "en" / "language.yaml")
    return language, chat, load_prompt(ROOT / "prompts" / "capr" / "scenarios.md"), ScenarioParams()


class _Collector:
    """Stands in for a chat to learn the stage's asks."""

    name = identity = "collector"
    asks: Sequence[Ask]

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        self.asks = asks
        raise InterruptedError


def requests(calls: int) -> list[dict[str, Any]]:
    """The bodies the stage's calls have, for the bare loops."""
    collector = _Collector()
    with suppress(InterruptedError):
        scenarios(*_tables(calls), *_given(collector))
    model = ServedModel("mock", "mock", "ollama:mock", "ollama", list)
    return [ollama_body(model, Job(ask, OPTIONS, "x", None).request()) for ask in collector.asks]


async def _in_parallel(bodies: list[dict[str, Any]], send: Callable[[Any], Awaitable[str]]) -> list[Any]:
    waiting = iter(bodies)
    found: list[Any] = []

    async def work() -> None:
        for body in waiting:
            found.append(json.loads(await send(body)))

    await asyncio.gather(*(work() for _ in range(SLOTS)))
    return found


async def bare_aiohttp(address: str, bodies: list[dict[str, Any]]) -> int:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send(body: dict[str, Any]) -> str:
            async with session.post(f"{address}/api/chat", json=body) as response:
                return str((await response.json())["message"]["content"])

        return len(await _in_parallel(bodies, send))


async def bare_httpx(address: str, bodies: list[dict[str, Any]]) -> int:
    """One client a worker: a shared pool is far slower."""
    waiting = iter(bodies)
    found = []

    async def work() -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            for body in waiting:
                response = await client.post(f"{address}/api/chat", json=body)
                found.append(json.loads(response.json()["message"]["content"]))

    await asyncio.gather(*(work() for _ in range(SLOTS)))
    return len(found)


async def bare_ollama(address: str, bodies: list[dict[str, Any]]) -> int:
    client = ollama.AsyncClient(host=address)
    known = ("model", "messages", "format", "options", "stream")

    async def send(body: dict[str, Any]) -> str:
        return str((await client.chat(**{name: body[name] for name in known})).message.content)

    return len(await _in_parallel(bodies, send))


BARE = {"aiohttp": bare_aiohttp, "httpx": bare_httpx, "ollama": bare_ollama}


def one_run(address: str, folder: Path, bodies: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """Every loop once, beginning with another one each run."""
    seconds: dict[str, float] = {}
    turns = ["stage", *BARE]
    for turn in turns[number % len(turns) :] + turns[: number % len(turns)]:
        started = time.perf_counter()
        if turn == "stage":
            table, chat = run_stage(address, folder / f"run{number}.sqlite", len(bodies))
            assert table.num_rows == chat.inner.counts.made == len(bodies)
            seconds["layer"] = round(chat.seconds, 3)
        else:
            assert asyncio.run(BARE[turn](address, bodies)) == len(bodies)
        seconds[turn] = round(time.perf_counter() - started, 3)
    return {
        "run": number,
        "seconds": seconds,
        "over_same_client": round(seconds["layer"] / seconds["aiohttp"], 4),
        "over_fastest_client": round(seconds["layer"] / min(seconds[name] for name in BARE), 4),
        "whole_stage_over_same_client": round(seconds["stage"] / seconds["aiohttp"], 4),
    }


def resume(folder: Path, calls: int) -> dict[str, Any]:
    """Kill the stage's process at 40 %, start it again, then once more: calls made and tables compared."""
    tables = {}
    made = {}
    with mock_server() as address:
        tables["whole"] = _process(address, folder / "whole", calls)
        made["whole"] = _count(address)
    with mock_server() as address:
        process = _start(address, folder / "killed", calls)
        while _count(address) < 0.4 * calls:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        made["at_kill"] = _count(address)
        tables["resumed"] = _process(address, folder / "killed", calls)
        made["resumed"] = _count(address)
        tables["warm"] = _process(address, folder / "killed", calls)
        made["warm"] = _count(address) - made["resumed"]
    return {
        "check": "resume",
        "calls": calls,
        "made": made,
        "within_in_flight": made["resumed"] <= calls + SLOTS,
        "same_bytes": len(set(tables.values())) == 1,
    }


def _start(address: str, folder: Path, calls: int) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "bench.model_layer",
        "--stage",
        address,
        str(folder),
        "--calls",
        str(calls),
    ]
    return subprocess.Popen(command, cwd=ROOT)


def _process(address: str, folder: Path, calls: int) -> bytes:
    assert _start(address, folder, calls).wait() == 0
    return (folder / "table.parquet").read_bytes()


def _count(address: str) -> int:
    return int(httpx.get(f"{address}/count", trust_env=False).json())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--embedded-calls", type=int, default=60, help="0: leave the embedded model out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
        return
    if given.stage:
        folder = Path(given.stage[1])
        table, _ = run_stage(given.stage[0], folder / "ledger.sqlite", given.calls)
        write_table(folder / "table.parquet", table)
        return
    folder = Path(tempfile.mkdtemp(prefix="adage-bench-"))
    lines = []

    def say(line: dict[str, Any]) -> None:
        lines.append(line)
        print(json.dumps(line), flush=True)

    try:
        bodies = requests(given.calls)
        with mock_server() as address:
            for number in range(given.runs):
                say(one_run(address, folder, bodies, number))
        runs = list(lines)
        for ratio, goal in (("over_same_client", 1.08), ("over_fastest_client", 1.15)):
            middle = round(statistics.median(line[ratio] for line in runs), 4) if runs else None
            say({"check": ratio, "median": middle, "goal": goal})
        say(resume(folder, given.calls))
        if given.embedded_calls:
            for line in measure("embedded", given.embedded_calls, 4):
                say(line)
    finally:
        shutil.rmtree(folder)
    if given.out:
        given.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
