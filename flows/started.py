"""Starts the flow from the command line, and says what it waits for."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import Any

import httpx

# Drawn with at the end of a build: loaded now, while Prefect's server starts.
import matplotlib.backends.backend_svg
import matplotlib.figure  # noqa: F401

from flows.assembly import BuildRequest
from flows.build_capr import build_capr
from flows.screen import Screen
from flows.server import PrefectServer
from pipeline.errors import PrerequisiteError

_PATIENCE_SECONDS = 3.0


def run_flow(request: BuildRequest, server: PrefectServer) -> dict[str, Any]:
    """Run `build-capr` in this process; while Prefect's temporary server starts, the person knows it."""
    waiting = threading.Timer(
        _PATIENCE_SECONDS,
        Screen().say,
        ["waiting for Prefect's temporary server (a first start can take a minute)"],
    )
    waiting.daemon = True
    waiting.start()
    try:
        with server.connected():
            waiting.cancel()
            summary: dict[str, Any] = build_capr(**asdict(request))
            return summary
    except httpx.TransportError as error:
        # Models' servers have errors of their own, so this one is Prefect's.
        raise PrerequisiteError(
            f"Prefect's server no longer answers ({error}): start it again, if it is yours. Every finished "
            "stage and every reply is kept; run the same command again to go on from here"
        ) from error
    finally:
        waiting.cancel()
