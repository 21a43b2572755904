from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


def test_the_deployment_names_a_flow_that_exists(project: Path) -> None:
    [deployment] = yaml.safe_load((project / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    file, name = deployment["entrypoint"].split(":")
    flow = getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), name)
    assert f"{flow.name}/{deployment['name']}" == "build-capr/default"
    assert set(deployment["parameters"]) <= set(inspect.signature(flow.fn).parameters)
    assert deployment["schedules"] == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "no project root at or above"),
        (("--root", "absent"), 2, "--root absent: No such file or directory"),
        (("--root", "root"), 2, "prefect.yaml: no list `deployments`"),
        (("--help",), 0, "--root DIR"),
    ],
)
def test_what_cannot_be_served_is_said(
    project: Path, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    command = [sys.executable, "-m", "flows.serve", *words]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == code, ended.stderr
    assert said in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
