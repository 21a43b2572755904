from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import ConfigError, LedgerError
from pipeline.llm.interface import Reply
from pipeline.llm.ledger import Ledger
from pipeline.llm.ledger_tools import export_ledger, import_ledger, stats
from pipeline.llm.prune import Pruning, count, prune
from tests.llm.test_ledger import FULL, entry


@pytest.fixture
def ledger(place: str) -> Ledger:
    filled = Ledger(place)
    filled.add([entry(1), entry(2, Reply("b", prompt_tokens=3)), entry(3, model="gguf:x")])
    filled.add_events([{"model": "gguf:x", "key": "k", "server": "s", "kind": "busy", "detail": "503"}] * 2)
    return filled


def test_stats(ledger: Ledger) -> None:
    found = stats(ledger)
    assert [(m.model, m.replies, m.prompt_tokens, m.completion_tokens) for m in found.models] == [
        ("gguf:x", 1, 12, 7),
        ("ollama:abc", 2, 15, 7),
    ]
    assert found.replies == 3
    assert found.events == {"busy": 2}
    assert bool(found.size) == bool(ledger.file)
    assert found.models[1].seconds == 1.25


def test_what_is_exported_can_be_imported(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "out" / "replies.jsonl"
    assert export_ledger(ledger, file) == 3
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert first["logprobs"] == FULL.logprobs or first["content"] == "b"
    other = Ledger(tmp_path / "other.sqlite")
    done = import_ledger(other, file)
    assert (done.added, done.already_held, done.torn) == (3, 0, None)
    keys = [entry(i).key for i in (1, 2, 3)]
    assert other.known(keys) == ledger.known(keys)
    again = import_ledger(other, file)
    assert (again.added, again.already_held) == (0, 3)
    back = tmp_path / "back.jsonl"
    export_ledger(other, back)
    assert back.read_bytes() == file.read_bytes()


def test_a_torn_last_line_is_dropped_and_told(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    export_ledger(ledger, file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    done = import_ledger(Ledger(tmp_path / "a.sqlite"), file)
    assert (done.added, done.torn) == (2, 3)
    file.write_bytes(whole[:-1])  # only the line end is missing: nothing is torn
    done = import_ledger(Ledger(tmp_path / "b.sqlite"), file)
    assert (done.added, done.torn) == (3, None)


def test_a_wrong_line_names_file_line_and_field_and_nothing_comes_in(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    export_ledger(ledger, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace('"sample": 0', '"sample": "none"')
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    other = Ledger(tmp_path / "other.sqlite")
    with pytest.raises(LedgerError, match=r"replies\.jsonl, line 2: sample: "):
        import_ledger(other, file)
    assert stats(other).replies == 0
    with pytest.raises(ConfigError, match="cannot be read"):
        import_ledger(other, tmp_path / "absent.jsonl")


def test_pruning_by_model_and_day(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="name what to delete"):
        Pruning()
    for pruning, wanted in (
        (Pruning(before="2000-01-01"), (0, 0)),
        (Pruning(model="gguf:"), (1, 2)),
        (Pruning(model="%"), (0, 0)),
        (Pruning(model="ollama:abc", before="2999-01-01"), (2, 0)),
    ):
        before = stats(ledger).replies
        assert count(ledger, pruning) == wanted
        assert stats(ledger).replies == before
        assert prune(ledger, pruning) == wanted
    assert stats(ledger).replies == 0
