from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pipeline.errors import ConfigError, LedgerError, StorageError
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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prompt_tokens", 10**30),
        ("completion_tokens", -1),
        ("sample", 2**31),
        ("attempt", -1),
        ("seconds", float("inf")),
        ("seconds", float("nan")),
        ("time", "x" * 50),
    ],
)
def test_a_line_that_no_ledger_can_hold_is_named(
    ledger: Ledger, tmp_path: Path, field: str, value: object
) -> None:
    file = tmp_path / "replies.jsonl"
    export_ledger(ledger, file)
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([*rest, json.dumps({**json.loads(first), field: value}), ""]), encoding="utf-8")
    other = Ledger(tmp_path / "other.sqlite")
    with pytest.raises(LedgerError, match=rf"replies\.jsonl, line 3: {field}: "):
        import_ledger(other, file)
    assert stats(other).replies == 0


@pytest.mark.parametrize("name", ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "sub/../link"])
def test_the_ledger_is_not_exported_over_itself(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("ledger.sqlite")
    for place in (tmp_path / "ledger.sqlite", tmp_path / "link"):
        ledger = Ledger(place)
        ledger.add([entry(1)])
        for target in (Path(name), tmp_path / name):
            with pytest.raises(ConfigError, match="belongs to the call ledger itself"):
                export_ledger(ledger, target)
        ledger.close()
        assert len(Ledger(place).known([entry(1).key])) == 1


def test_a_pipe_is_not_put_away_for_the_export(ledger: Ledger, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match=f"^{pipe} is no file"):
        export_ledger(ledger, pipe)
    assert pipe.is_fifo()


def test_pruning_by_model_and_day(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="name what to delete"):
        Pruning()
    for blank in ("", " "):
        with pytest.raises(ConfigError, match="is the beginning of every name"):
            Pruning(model=blank, before="2000-01-01")
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
