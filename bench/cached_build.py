"""What a build adds to an empty Prefect flow when every stage is reused.

    python -m bench.cached_build [--runs 5]

Both are whole commands in one home, each with Prefect's temporary server, in alternation; the build is of 36
items made on a scripted server before. One JSON line a run; the goal is less than 3 s more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.running import start, start_build
from tests.flows.small import make_root
from tests.servers.scripted import ScriptedServer

_EMPTY = """
from flows.environment import configure_prefect
configure_prefect(command_line=True)
from prefect import flow
from flows.server import PrefectServer

@flow
def empty():
    pass

with PrefectServer() as server, server.connected():
    empty()
"""


def _seconds(process: subprocess.Popen[str], started: float) -> float:
    said = process.communicate()
    assert process.returncode == 0, said
    return round(time.perf_counter() - started, 2)


def _empty(home: Path) -> float:
    started = time.perf_counter()
    variables = {**os.environ, "PREFECT_HOME": str(home / "prefect")}
    command = [sys.executable, "-c", _EMPTY]
    return _seconds(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables),
        started,
    )


def _build(root: Path, home: Path) -> float:
    started = time.perf_counter()
    return _seconds(start_build(root, home), started)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="adage-bench-") as folder, ScriptedServer() as server:
        home = Path(folder)
        root = make_root(home / "root", server.address)
        _build(root, home)
        made = len(server.chats)
        added = []
        for run in range(runs):
            seconds = {"empty": _empty(home), "build": _build(root, home)}
            added.append(seconds["build"] - seconds["empty"])
            print(json.dumps({"run": run, "seconds": seconds, "added": round(added[-1], 2)}), flush=True)
        shown = start("show", "capr", "--lang", "en", "--root", str(root), "--json", home=home)
        stages = json.loads(shown.communicate()[0])["stages"]
        whole = {
            "check": "added",
            "median": round(statistics.median(added), 2),
            "goal": 3,
            "all_cached": all(stage["cached"] for stage in stages),
            "calls": len(server.chats) - made,
        }
        print(json.dumps(whole))


if __name__ == "__main__":
    main()
