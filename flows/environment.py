"""What the process's environment says: read here and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import ConfigError
from pipeline.llm.endpoints import checked_address

_HOST_AND_PORT = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*)):([^:\[\]]*)")
_OLLAMA_PORTS = {"http": "80", "https": "443"}
# A server told to listen everywhere is reached on loopback.
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}

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
    """The Ollama server of the environment: OLLAMA_HOST as Ollama itself reads it, else its default.

    Blanks and quotes around it count for nothing; a port left out, or none at all, is the scheme's where a
    scheme is given and else 11434.
    """
    said = os.environ.get("OLLAMA_HOST", "").strip().strip("\"'").strip()
    scheme, _, rest = said.rpartition("://")
    usual = _OLLAMA_PORTS.get(scheme, "11434")
    if said == "ollama.com":
        scheme, usual = "https", "443"
    place, _, path = rest.partition("/")
    parted = _HOST_AND_PORT.fullmatch(place)
    host, port = (parted[1] or parted[2] or "", parted[3]) if parted else (place.strip("[]"), usual)
    if not (port.isascii() and port.isdecimal() and int(port) <= 65535):
        port = usual
    host = _EVERYWHERE.get(host, host)
    address = f"{scheme or 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    try:
        return checked_address(f"{address}/{path}".rstrip("/"))
    except ValueError as error:
        raise ConfigError(f"OLLAMA_HOST: {error}") from error


def variable(name: str) -> str | None:
    """The value of one named variable, for API keys a profile points to."""
    return os.environ.get(name)
