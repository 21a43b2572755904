"""A scripted server for a module's tests, and a root in which a small build is finished."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.small import build, make_root
from tests.flows.typed import adage_
from tests.servers.scripted import ScriptedServer

__all__ = ["adage_"]  # a fixture: `adage` types a command


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """A server that answers at once, shared by a module's tests."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def built(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a finished run; tests that change it take ``copy``."""
    root = make_root(tmp_path_factory.mktemp("root"), server.address)
    build(root)
    return root


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A root with a finished run, for one test alone."""
    return shutil.copytree(built, tmp_path / "root")
