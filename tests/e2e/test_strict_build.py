"""`adage build --strict` on a benchmark with a shortcut: exit code 7, one paragraph, everything written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.flows.small import build, make_root
from tests.servers.readable import readable
from tests.servers.scripted import ScriptedServer


def test_a_failed_gate_ends_a_strict_build_with_code_seven(project: Path, tmp_path: Path) -> None:
    with ScriptedServer(responders=[readable(project / "seeds" / "am" / "proverbs.csv")]) as server:
        root = make_root(
            tmp_path / "root",
            server.address,
            lang="am",
            acquire={"limit": 40},
            scenarios={"domains": 1},
        )
        # Built here, where it takes no Prefect: the command finds every stage made.
        summary = build(root, lang="am")[2]
        failed = [gate["baseline"] for gate in summary.manifest["shortcuts"] if gate["verdict"] == "fail"]
        assert failed == ["medoid_option"]
        summary.report.unlink()
        words = ["build", "capr", "--lang", "am", "--profile", "test", "--root", str(root), "--strict"]
        done = subprocess.run(
            [sys.executable, "-m", "flows.cli.main", *words],
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "PREFECT_HOME": str(tmp_path / "prefect")},
        )
    assert done.returncode == 7, done.stderr
    [said] = [line for line in done.stderr.splitlines() if line.startswith("adage: ")]
    assert "medoid_option" in said
    assert "at most 30% is allowed" in said
    assert "Traceback" not in done.stderr
    assert summary.report.is_file()
    assert f"report: {summary.report}" in done.stderr
