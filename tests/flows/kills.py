"""What tests that kill a build share: its final tables, and what a server was asked twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.servers.scripted import ScriptedServer

SLOTS = 4
"""Calls in flight at most, as `tests.flows.small` leaves it: what a kill may cost."""


def final_bytes(root: Path) -> dict[str, bytes]:
    """Every table a finished build left, by its place in the root."""
    tables = sorted((root / "artifacts" / "capr").rglob("*.parquet"))
    return {str(table.relative_to(root)): table.read_bytes() for table in tables}


def repeated(server: ScriptedServer) -> int:
    """Calls beyond the first of each distinct request."""
    bodies = Counter(json.dumps(call.body, sort_keys=True) for call in server.chats)
    return sum(bodies.values()) - len(bodies)
