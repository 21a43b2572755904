"""A row lost to a server that was away is a record in this build and is asked for again in the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.backends import Backends
from pipeline.llm.transport import Timing
from tests.flows.small import build, make_root
from tests.servers.scripted import ScriptedServer


def test_a_stage_that_lost_a_row_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Timing(call=5, first_call=5, patience=5, drain=1, tries_broken=2, tries_timeout=1)
    monkeypatch.setattr(Backends, "timing", staticmethod(lambda spec: quick))
    with ScriptedServer() as server:
        root = make_root(tmp_path, server.address)
        seeds = (root / "seeds" / "en" / "proverbs.csv").read_text(encoding="utf-8").splitlines()
        server.fail_when(seeds[3].split(",")[1], "close", times=2)
        first, _, _ = build(root)
        assert first["label"].reasons == {"reply_server_error": 1}
        second, calls, _ = build(root)
        assert not second["label"].cached
        assert second["label"].reasons == {}
        assert second["label"].kept == 12
        assert calls["made"] > 0
        third, calls, _ = build(root)
        assert all(ref.cached for ref in third.values())
        assert calls["made"] == 0
