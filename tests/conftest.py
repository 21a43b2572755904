"""Guards for every test: no network beyond loopback, a Prefect home and a root of its own."""

from __future__ import annotations

import atexit
import ipaddress
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.servers.real_ollama import real_ollama

__all__ = ["real_ollama"]  # a fixture of the whole session: one server, one pair of models

# Subprocesses inherit these: whatever leaves the machine goes to a port where nothing listens.
_DEAD_PROXY = "http://127.0.0.1:9"
os.environ.update(
    {
        "http_proxy": _DEAD_PROXY,
        "https_proxy": _DEAD_PROXY,
        "HTTP_PROXY": _DEAD_PROXY,
        "HTTPS_PROXY": _DEAD_PROXY,
        "no_proxy": "127.0.0.1,localhost,::1",
        "NO_PROXY": "127.0.0.1,localhost,::1",
        "HF_HUB_OFFLINE": "1",
        "PREFECT_HOME": (prefect_home := tempfile.mkdtemp(prefix="adage-prefect-")),
    }
)
atexit.register(shutil.rmtree, prefect_home, ignore_errors=True)
for name in ("OLLAMA_HOST", "PREFECT_API_URL"):
    os.environ.pop(name, None)

# How long an example takes says how busy the machine is and nothing else.
settings.register_profile("adage", deadline=None)
settings.load_profile("adage")

_connect = socket.socket.connect


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = address[0]
        local = host == "localhost" or ipaddress.ip_address(host.split("%")[0]).is_loopback
        if not local:
            raise AssertionError(f"a test tried to reach {address}: tests reach loopback only")
    _connect(self, address)


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    socket.socket.connect = _guarded_connect  # type: ignore[method-assign, assignment]
    yield
    socket.socket.connect = _connect  # type: ignore[method-assign]


@pytest.fixture(autouse=True, scope="module")
def _environment_of_a_file() -> Iterator[None]:
    """What a command typed in this process sets for Prefect would reach the servers of the files after it."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout the tests run in."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def realdata(project: Path) -> Path:
    """The folder of public data files, or a skip that says why."""
    folder = Path(os.environ.get("ADAGE_REALDATA", project.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the public data files are not at {folder}; set ADAGE_REALDATA")
    return folder
