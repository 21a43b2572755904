"""`adage ledger` as a person types it, and what every command says of a ledger that cannot be used."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.flows.small import build, make_root
from tests.flows.typed import Type
from tests.servers.scripted import ScriptedServer, digest_of

MODEL = f"ollama:{digest_of('scripted')}"


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "root")


@pytest.fixture
def ledger(root: Path) -> Path:
    return root / "artifacts" / "ledger.sqlite"


def _replies(ledger: Path) -> int:
    with closing(sqlite3.connect(ledger)) as opened:
        return int(opened.execute("SELECT count(*) FROM replies").fetchone()[0])


def test_stats(root: Path, ledger: Path, adage: Type) -> None:
    held = _replies(ledger)
    shown = adage("ledger", "stats", "--root", root)
    assert shown.code == 0
    assert f"{held} replies" in shown.out
    assert MODEL[:20] in shown.out
    told = json.loads(adage("ledger", "stats", "--root", root, "--json").out)
    assert told["place"] == str(ledger)
    assert told["replies"] == told["models"][0]["replies"] == held
    assert told["models"][0]["model"] == MODEL
    assert told["models"][0]["prompt_tokens"] > 0


def test_what_is_exported_here_is_not_asked_for_there(
    root: Path, server: ScriptedServer, tmp_path: Path, adage: Type
) -> None:
    file = tmp_path / "out" / "replies.jsonl"
    held = _replies(root / "artifacts" / "ledger.sqlite")
    assert adage("ledger", "export", file, "--root", root).out == f"{file}: {held} replies\n"
    there = make_root(tmp_path / "there", server.address)
    done = adage("ledger", "import", file, "--root", there)
    assert done.out == f"{there / 'artifacts' / 'ledger.sqlite'}: {held} replies added, 0 held already\n"
    _, calls, _ = build(there)
    assert (calls["made"], calls["reused"]) == (0, held)
    file.write_bytes(file.read_bytes()[:-20])
    again = json.loads(adage("ledger", "import", file, "--root", there, "--json").out)
    assert (again["added"], again["already_held"], again["torn"]) == (0, held - 1, held)


def test_a_profiles_own_ledger_lies_in_the_root(root: Path, ledger: Path, adage: Type) -> None:
    profile = root / "profiles" / "test.yaml"
    profile.write_text(profile.read_text(encoding="utf-8") + "ledger: shared/ours.sqlite\n", encoding="utf-8")
    away = adage("ledger", "stats", "--root", root, "--profile", "test")
    assert away.code == 4
    assert str(root / "shared" / "ours.sqlite") in away.err
    (root / "shared").mkdir()
    shutil.move(ledger, root / "shared" / "ours.sqlite")
    assert "ours.sqlite" in adage("ledger", "stats", "--root", root, "--profile", "test").out
    _, calls, _ = build(root, limit_domains=2)
    assert calls["made"] == 0


def test_pruning_asks_first(root: Path, ledger: Path, adage: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    held = _replies(ledger)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    kept = adage("ledger", "prune", "--model", "ollama:", "--root", root)
    assert (kept.code, _replies(ledger)) == (130, held)
    assert f"delete {held} replies?" in kept.err
    assert adage("ledger", "prune", "--before", "2000-01-01", "--yes", "--root", root).code == 0
    assert _replies(ledger) == held
    gone = adage("ledger", "prune", "--model", "ollama:", "--yes", "--json", "--root", root)
    assert json.loads(gone.out) == {"ledger": str(ledger), "replies": held, "events": 0}
    assert _replies(ledger) == 0
    nothing = adage("ledger", "prune", "--root", root)
    assert (nothing.code, nothing.err) == (
        2,
        "adage: name what to delete: a model, a day before which, or both\n",
    )


ASKS_FOR_IT = [
    ("ledger", "stats"),
    ("ledger", "export", "{file}"),
    ("ledger", "import", "{file}"),
    ("ledger", "prune", "--model", "x", "--yes"),
    ("build", "capr", "--lang", "en", "--profile", "test", "--limit-domains", "2"),
    ("plan", "capr", "--lang", "en", "--profile", "test"),
]


def _fill(words: tuple[str, ...], tmp_path: Path, root: Path) -> list[str]:
    return [*(word.format(file=tmp_path / "replies.jsonl") for word in words), "--root", str(root)]


@pytest.mark.parametrize("words", ASKS_FOR_IT, ids=" ".join)
@pytest.mark.parametrize("damage", ["empty", "no database", "another database", "overwritten"])
def test_a_ledger_that_cannot_be_used_is_named_and_left_as_it_is(
    root: Path, ledger: Path, words: tuple[str, ...], damage: str, tmp_path: Path, adage: Type
) -> None:
    (tmp_path / "replies.jsonl").write_text("")
    for beside in ("-wal", "-shm"):
        ledger.with_name(ledger.name + beside).unlink(missing_ok=True)
    if damage == "another database":
        ledger.unlink()
        with closing(sqlite3.connect(ledger)) as other:
            other.execute("CREATE TABLE friends (name TEXT)")
    else:
        whole = ledger.read_bytes()
        ledger.write_bytes(
            {
                "empty": b"",
                "no database": b"notes " * 1000,
                "overwritten": whole[:4096] + b"\xaa" * (len(whole) - 4096),
            }[damage]
        )
    before = ledger.read_bytes()
    ended = adage(*_fill(words, tmp_path, root))
    assert ended.code == 4
    assert ended.out == ""
    [said] = ended.err.strip().splitlines()
    assert said.startswith("adage: ")
    assert str(ledger) in said
    assert "Traceback" not in said
    assert ledger.read_bytes() == before


@pytest.mark.parametrize("words", ASKS_FOR_IT, ids=" ".join)
def test_a_locked_ledger_is_named(
    root: Path,
    ledger: Path,
    words: tuple[str, ...],
    tmp_path: Path,
    adage: Type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.llm.ledger.BUSY_SECONDS", 0.1)
    adage("ledger", "export", tmp_path / "replies.jsonl", "--root", root)
    with closing(sqlite3.connect(ledger, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("DELETE FROM events")
        ended = adage(*_fill(words, tmp_path, root))
        holder.execute("ROLLBACK")
    assert (ended.code, ended.out) == (4, "")
    [said] = ended.err.strip().splitlines()
    assert f"the call ledger {ledger} could not be " in said
    assert "database is locked: another program holds it; end that program, then run again" in said


@pytest.mark.parametrize("words", [w for w in ASKS_FOR_IT if w[0] == "ledger" and w[1] != "import"])
def test_a_ledger_that_is_not_there_is_not_made(words: tuple[str, ...], tmp_path: Path, adage: Type) -> None:
    ended = adage(*_fill(words, tmp_path, tmp_path))
    assert ended.code == 4
    assert f"there is no call ledger at {tmp_path / 'artifacts' / 'ledger.sqlite'}: " in ended.err
    assert list(tmp_path.iterdir()) == []
