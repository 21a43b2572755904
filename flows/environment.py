"""What the process's environment says: read here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFECT_DEFAULTS = {
    # A first start in an empty home migrates a database: up to 75 s were seen on 2 cores, the default is 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240",
    # Telemetry of a temporary server fights over its database and prints "database is locked" tracebacks.
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_LOG_RETRYABLE_ERRORS": "false",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
}

_COMMAND_LINE_DEFAULTS = {
    # The command line says itself what went wrong; Prefect would print the traceback of a user's mistake.
    # A served deployment has nobody else to say it, so there Prefect's log stays.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
}


def configure_prefect(*, command_line: bool) -> None:
    """Give Prefect the settings a run needs, before it is imported; the user's own settings win.

    prefect.toml is read from the working directory only, so nothing can rely on it.
    """
    defaults = _PREFECT_DEFAULTS | (_COMMAND_LINE_DEFAULTS if command_line else {})
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


@contextmanager
def point_prefect_to(url: str) -> Iterator[None]:
    """Let this process and those it starts talk to the Prefect server at this address."""
    os.environ["PREFECT_API_URL"] = url
    try:
        yield
    finally:
        del os.environ["PREFECT_API_URL"]


def cache_folder() -> Path:
    """Where big files that every root shares lie: the user's cache folder for this project."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "adage"


def ollama_address() -> str:
    """The Ollama server of the environment: OLLAMA_HOST as Ollama itself reads it, else its default."""
    host = os.environ.get("OLLAMA_HOST", "").strip() or "127.0.0.1:11434"
    if "://" not in host:
        host = f"http://{host}"
    scheme, rest = host.split("://", 1)
    name, _, tail = rest.partition("/")
    if ":" not in name.rsplit("]", 1)[-1]:
        name += {"https": ":443"}.get(scheme, ":11434")
    # A server told to listen everywhere is reached on loopback.
    name = name.replace("0.0.0.0:", "127.0.0.1:", 1)
    return f"{scheme}://{name}{'/' + tail if tail else ''}".rstrip("/")


def variable(name: str) -> str | None:
    """The value of one named variable, for API keys a profile points to."""
    return os.environ.get(name)
