from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import yaml


def test_the_deployment_names_a_flow_that_exists(project: Path) -> None:
    [deployment] = yaml.safe_load((project / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    file, name = deployment["entrypoint"].split(":")
    flow = getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), name)
    assert f"{flow.name}/{deployment['name']}" == "build-capr/default"
    assert set(deployment["parameters"]) <= set(inspect.signature(flow.fn).parameters)
    assert deployment["schedules"] == []
