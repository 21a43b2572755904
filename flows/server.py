"""Prefect's temporary server as a process of ours, for people who run none.

The one Prefect would start shares our process group, so Ctrl-C at a terminal ends it before the flow could
say how it ended; and it outlives a build that is killed. This one has a session of its own and ends with its
parent.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import httpx

from flows.environment import point_prefect_to
from pipeline.errors import PrerequisiteError

_GRACE_SECONDS = 10.0
_CONFIGURED = "configured"


class PrefectServer:
    """Starts the process when it is entered, so that whoever has other things to do meanwhile does them."""

    def __enter__(self) -> PrefectServer:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flows.server", str(os.getpid())],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.communicate(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Within it this process talks to a Prefect server: the user's own, else this one, waited for."""
        from prefect.context import refresh_global_settings_context
        from prefect.settings import get_current_settings

        port = self._said()
        if port == _CONFIGURED:
            yield
            return
        url = f"http://127.0.0.1:{port}/api"
        self._wait(url, get_current_settings().server.ephemeral.startup_timeout_seconds)
        with point_prefect_to(url):
            refresh_global_settings_context()
            yield
        refresh_global_settings_context()

    def _said(self) -> str:
        assert self._process.stdout
        said = self._process.stdout.readline().strip()
        if not said:
            raise PrerequisiteError(
                f"Prefect's temporary server ended with code {self._process.wait()}; to see why, type: "
                "prefect server start"
            )
        return said

    def _wait(self, url: str, seconds: float) -> None:
        """Until it answers: a first start in an empty home migrates a database first."""
        until = time.monotonic() + seconds
        # Loopback, whatever proxy the user's environment names.
        with httpx.Client(trust_env=False, timeout=2) as client:
            while time.monotonic() < until and self._process.poll() is None:
                try:
                    if client.get(f"{url}/health").is_success:
                        return
                except httpx.TransportError:
                    time.sleep(0.1)
        raise PrerequisiteError(
            f"Prefect's temporary server did not answer within {seconds:.0f} s; give it longer with export "
            f"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS={2 * seconds:.0f}, or see why with: "
            "prefect server start"
        )


def main() -> None:
    """The server's process: serve on a free port of loopback, print it, end with the parent.

    Where the user's settings name a server, it prints that and ends.
    """
    parent = int(sys.argv[1])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from prefect.settings import get_current_settings

    if get_current_settings().api.url is not None:
        sys.stdout.write(f"{_CONFIGURED}\n")
        return
    import uvicorn
    from prefect.server.api.server import create_app

    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        app = create_app(ephemeral=True, final=True)
        uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listener])


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
