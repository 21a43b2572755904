"""The served deployment on a real Prefect server, run from another terminal as README says."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from pipeline.capr.graph import STAGES
from tests.flows.small import make_root
from tests.servers.scripted import ScriptedServer

pytestmark = pytest.mark.timeout(900)

PREFECT = str(Path(sys.executable).parent / "prefect")


@dataclass(frozen=True)
class PrefectServer:
    """A running server and the environment that points to it."""

    api: str
    environment: dict[str, str]

    def ask(self, path: str, **body: Any) -> Any:
        """The answer to a filter."""
        return httpx.post(f"{self.api}{path}", json=body).raise_for_status().json()

    def deployment(self) -> dict[str, Any]:
        """What the server knows of build-capr/default."""
        found = httpx.get(f"{self.api}/deployments/name/build-capr/default").raise_for_status().json()
        return dict(found)

    def last_run(self) -> dict[str, Any]:
        """The flow run that was started last."""
        [run] = self.ask("/flow_runs/filter", sort="START_TIME_DESC", limit=1)
        return dict(run)

    def of_run(self, what: str, run: dict[str, Any]) -> list[dict[str, Any]]:
        """Its task runs or artifacts."""
        found = self.ask(f"/{what}/filter", flow_runs={"id": {"any_": [run["id"]]}})
        return list(found)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    home = tmp_path_factory.mktemp("prefect")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    api = f"http://127.0.0.1:{port}/api"
    environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    log = (home / "server.log").open("w")
    command = [PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=home
    ) as process:
        try:
            _until(lambda: _healthy(api), 240, lambda: (home / "server.log").read_text())
            yield PrefectServer(api, {**environment, "PREFECT_API_URL": api})
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def models() -> Iterator[ScriptedServer]:
    # Slow enough that judging lasts longer than one update of its progress.
    with ScriptedServer(delay=0.5) as running:
        yield running


@pytest.fixture
def root(models: ScriptedServer, project: Path, tmp_path: Path) -> Path:
    root = make_root(tmp_path / "root", models.address)
    (root / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    shutil.copy(project / "prefect.yaml", root)
    absent = yaml.safe_load((root / "profiles" / "test.yaml").read_text(encoding="utf-8"))
    absent["models"]["m"]["model"] = "absent"
    (root / "profiles" / "absent.yaml").write_text(yaml.safe_dump(absent), encoding="utf-8")
    return root


def test_runs_from_another_terminal(server: PrefectServer, root: Path) -> None:
    with _serving(server, root) as log:
        offered = server.deployment()["parameter_openapi_schema"]["properties"]
        assert {"am", "en", "ja"} <= set(offered["lang"]["enum"])
        assert offered["profile"]["enum"] == ["absent", "demo", "local", "paper", "test"]
        assert offered["lang"]["description"] == "Language code, a folder of seeds/."

        assert _run(server, root, "lang=en", "profile=test") == 0
        run = server.last_run()
        assert (run["name"], run["state"]["name"]) == ("capr-en-test", "Completed")
        tasks = {task["name"]: task["state"]["name"] for task in server.of_run("task_runs", run)}
        assert tasks == dict.fromkeys(STAGES, "Completed")
        artifacts = {artifact["key"]: artifact for artifact in server.of_run("artifacts", run)}
        judged = artifacts["capr-en-judge"]
        assert (judged["type"], judged["data"]) == ("progress", 100.0)
        assert judged["task_run_id"]
        table = artifacts["capr-en-test"]["data"]
        assert "> TEST: scripted replies." in table
        assert "| judge | 108 | 108 | 0 |  | 108 calls |" in table
        report = root / "artifacts/capr/en/runs/test/report.html"
        assert report.is_file()
        assert f"- report: [report.html]({report.as_uri()}), `{report}`" in table

        assert _run(server, root, "lang=en", "profile=test") == 0
        states = {task["state"]["name"] for task in server.of_run("task_runs", server.last_run())}
        assert states == {"Cached"}

        for parameters, message in [
            (("lang=qq", "profile=test"), "unknown language 'qq': known are am, ar, en"),
            (("lang=en", "profile=absent"), "ollama pull absent"),
        ]:
            assert _run(server, root, *parameters) == 1
            state = server.last_run()["state"]
            assert state["name"] == "Failed"
            assert message in state["message"]
            # The run's process may say it after the server knows it.
            _said(log, message)

        assert _run(server, root, "lang=en", "profile=test", "max_calls=3", "limit_domains=5") == 1
        run = server.last_run()
        failed = [task for task in server.of_run("task_runs", run) if task["state"]["type"] == "FAILED"]
        assert [task["name"] for task in failed] == ["scenarios"]
        message = failed[0]["state"]["message"]
        assert message.startswith("--max-calls 3 reached: ")
        assert "run the same command again to go on from here" in message
        assert run["state"]["message"] == message
        assert "Traceback" not in log.read_text(encoding="utf-8")


@pytest.mark.full
def test_a_cron_line_taken_out_is_gone(server: PrefectServer, root: Path, project: Path) -> None:
    file = root / "prefect.yaml"
    without = file.read_text(encoding="utf-8")
    with_cron = without.replace("schedules: []", 'schedules: [{cron: "0 3 * * 0", timezone: Europe/Berlin}]')
    assert with_cron != without

    def serve() -> None:
        with _serving(server, root):
            pass

    def deploy() -> None:
        subprocess.run(
            [PREFECT, "--no-prompt", "deploy", "--all", "--prefect-file", str(file)],
            env=server.environment,
            cwd=project,
            check=True,
            capture_output=True,
        )

    pool = [PREFECT, "work-pool", "create", "adage", "--type", "process"]
    subprocess.run(pool, env=server.environment, check=True, capture_output=True)
    for redeploy in (serve, deploy):
        file.write_text(with_cron, encoding="utf-8")
        redeploy()
        [schedule] = server.deployment()["schedules"]
        assert schedule["schedule"]["cron"] == "0 3 * * 0"
        assert schedule["schedule"]["timezone"] == "Europe/Berlin"
        file.write_text(without, encoding="utf-8")
        redeploy()
        assert server.deployment()["schedules"] == []


@contextmanager
def _serving(server: PrefectServer, root: Path) -> Iterator[Path]:
    """`python -m flows.serve` in the root; gives its log."""
    log = root / "serve.log"
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "flows.serve"],
            cwd=root,
            env=server.environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        try:
            _until(lambda: "being served" in log.read_text(encoding="utf-8"), 120, log.read_text)
            yield log
        finally:
            process.terminate()
            process.wait(60)


def _said(log: Path, message: str) -> None:
    _until(lambda: message in log.read_text(encoding="utf-8"), 60, log.read_text)


def _run(server: PrefectServer, root: Path, *parameters: str) -> int:
    words = [word for parameter in parameters for word in ("--param", parameter)]
    return subprocess.run(
        [PREFECT, "deployment", "run", "build-capr/default", *words, "--watch"],
        env=server.environment,
        cwd=root,
        capture_output=True,
        timeout=300,
        check=False,
    ).returncode


def _healthy(api: str) -> bool:
    try:
        return bool(json.loads(httpx.get(f"{api}/health", timeout=2).text))
    except (httpx.TransportError, ValueError):
        return False


def _until(done: Callable[[], bool], seconds: float, log: Callable[[], str]) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, log()
        time.sleep(0.2)
