"""A throwaway PostgreSQL cluster for tests; skips with the reason where there is none, fails in CI."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.needed import unavailable

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster() -> Iterator[str]:
    """The SQLAlchemy URL of a cluster that lives as long as the block; it listens on loopback only."""
    found = shutil.which("initdb") or next(
        (str(f / "initdb") for f in _FOLDERS if (f / "initdb").exists()), None
    )
    if found is None:
        unavailable(
            "PostgreSQL's initdb is neither on PATH nor in /usr/lib/postgresql: apt-get install postgresql"
        )
    programs = Path(found).resolve().parent
    owner = _owner()
    folder = Path(tempfile.mkdtemp(prefix="adage-pg-"))
    if owner:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    port = free_port()

    def run(*command: str) -> None:
        done = subprocess.run(
            command,
            cwd=folder,
            user=owner.pw_uid if owner else None,
            group=owner.pw_gid if owner else None,
            extra_groups=[] if owner else None,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout

    data = str(folder / "data")
    try:
        run(str(programs / "initdb"), "-D", data, "-U", "adage", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        log = str(folder / "log")
        run(str(programs / "pg_ctl"), "-D", data, "-o", settings, "-l", log, "-w", "-t", "60", "start")
        try:
            yield f"postgresql+psycopg://adage@127.0.0.1:{port}/postgres"
        finally:
            run(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> pwd.struct_passwd | None:
    """Whose cluster it is: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {user.pw_name: user for user in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]
