from __future__ import annotations

import multiprocessing
import random
import resource
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from pipeline.errors import LedgerError
from pipeline.llm.interface import Reply
from pipeline.llm.ledger import Entry, Ledger
from tests.llm.asks import echo, token_asks, tokens
from tests.llm.conftest import MakeChat
from tests.servers.scripted import ScriptedServer

FULL = Reply(
    content='{"a": "ሰላም 😀"}',
    thinking="hm",
    finish_reason="stop",
    prompt_tokens=12,
    completion_tokens=7,
    server="ollama 0.17.4",
    seconds=1.25,
    logprobs=[{"token": "ሰ", "logprob": -0.5, "top": [["x", -1.5]]}],
)


def entry(number: int, reply: Reply = FULL, model: str = "ollama:abc") -> Entry:
    return Entry(f"{number:064x}", model, f"row-{number}", 0, 0, reply)


def test_a_reply_comes_back_as_it_went_in(place: str) -> None:
    bare = Reply("")
    Ledger(place).add([entry(1), entry(2, bare)])
    reopened = Ledger(place)
    keys = [entry(i).key for i in (1, 2, 3)]
    assert reopened.known(keys) == {keys[0]: FULL, keys[1]: bare}


def test_the_first_committed_reply_stays_and_is_what_everyone_gets(place: str) -> None:
    first, second = Ledger(place), Ledger(place)
    first.add([entry(11)])
    late = Reply("late")
    held = second.add([entry(11, late), entry(12, late)])
    assert held == {entry(11).key: FULL, entry(12).key: late}
    assert second.known([entry(11).key]) == {entry(11).key: FULL}


def test_thousands_of_keys_are_read_at_once(place: str) -> None:
    ledger = Ledger(place)
    ledger.add([entry(1000 + i) for i in range(1500)])
    assert len(ledger.known([entry(1000 + i).key for i in range(2000)])) == 1500


def _write(place: str, start: int, barrier: threading.Barrier) -> None:
    barrier.wait()
    ledger = Ledger(place)
    for i in range(start, start + 120, 4):
        ledger.add([entry(5000 + j, Reply(f"{start}")) for j in range(i, i + 4)])


def test_several_processes_write_at_once_and_no_reply_is_lost_or_doubled(place: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(4)
    writers = [spawn.Process(target=_write, args=(place, start, barrier)) for start in (0, 40, 80, 120)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * 4
    known = Ledger(place).known([entry(5000 + j).key for j in range(300)])
    assert sorted(known) == [entry(5000 + j).key for j in range(240)]


def test_writers_of_the_same_keys_in_any_order_never_shut_each_other_out(place: str) -> None:
    Ledger(place).close()
    barrier = threading.Barrier(4)
    held: list[dict[str, Reply]] = [{} for _ in range(4)]

    def write(number: int) -> None:
        ledger = Ledger(place)
        order = list(range(240))
        random.Random(number).shuffle(order)
        barrier.wait(60)
        for start in range(0, 240, 16):
            held[number] |= ledger.add([entry(i, Reply(f"{number}")) for i in order[start : start + 16]])
        ledger.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    kept = Ledger(place).known([entry(i).key for i in range(240)])
    assert len(kept) == 240
    assert all(replies == kept for replies in held)


def test_two_runs_on_one_server_ledger_share_their_replies(
    postgres_ledger: str, server: ScriptedServer, make_chat: MakeChat
) -> None:
    server.responders.append(echo)
    server.delay = 0.01
    chats = [make_chat(ledger=Ledger(postgres_ledger), run_seed=5) for _ in range(2)]
    answers: list[list[str | None]] = [[], []]

    def run(number: int) -> None:
        answers[number] = tokens(chats[number].ask(token_asks(40)))

    runs = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert answers == [[str(i) for i in range(40)]] * 2
    third = make_chat(ledger=Ledger(postgres_ledger), run_seed=5)
    third.ask(token_asks(40))
    assert (third.counts.made, third.counts.reused) == (0, 40)


def test_a_full_sync_and_write_ahead_log_are_set(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with ledger.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_where_one_may_not_write_one_may_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a b%20?#"
    folder.mkdir()
    writer = Ledger(folder / "ledger.sqlite")
    writer.add([entry(1)])
    monkeypatch.setattr("os.access", lambda place, mode: False)
    # First with the writer's log beside the file, then with the file alone.
    for _ in range(2):
        looker = Ledger(folder / "ledger.sqlite", look=True)
        before = sorted(folder.iterdir())
        assert set(looker.known([entry(1).key])) == {entry(1).key}
        with pytest.raises(LedgerError, match="could not be written: attempt to write a readonly database"):
            looker.add([entry(2)])
        looker.close()
        writer.close()
        assert sorted(folder.iterdir()) in (before, [folder / "ledger.sqlite"])
    assert sorted(folder.iterdir()) == [folder / "ledger.sqlite"]


def test_an_empty_file_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    file.touch()
    with pytest.raises(LedgerError, match=r"ledger\.sqlite is an empty file: move"):
        Ledger(file)
    assert file.stat().st_size == 0


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    file.write_text("notes " * 1000)
    with pytest.raises(
        LedgerError, match=r"ledger\.sqlite could not be opened: file is not a database: move"
    ):
        Ledger(file)
    assert file.read_text().startswith("notes")


def test_another_database_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE friends (name TEXT)")
    with pytest.raises(LedgerError, match="is not a call ledger"):
        Ledger(file)


def test_another_version_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    Ledger(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE adage_ledger SET version = 7")
    with pytest.raises(LedgerError, match=r"has version \[7\], this adage reads 1"):
        Ledger(file)


def test_a_damaged_page_is_an_error_and_never_a_miss(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    ledger = Ledger(file)
    ledger.add([entry(i, Reply("x" * 3000)) for i in range(200)])
    ledger.close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with file.open("r+b") as stream:
        stream.seek(4096 * 4)
        stream.write(b"\xaa" * (file.stat().st_size - 4096 * 4))
    with pytest.raises(LedgerError, match=r"ledger\.sqlite could not be (read|opened): .*malformed"):
        Ledger(file).known([entry(i).key for i in range(200)])


def test_a_lock_is_waited_for_in_vain_only_so_long(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    ledger = Ledger(file, busy_seconds=0.2)
    holder = sqlite3.connect(file)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        LedgerError, match=r"ledger\.sqlite could not be written: database is locked: another"
    ):
        ledger.add([entry(1)])
    assert ledger.known([entry(1).key]) == {}
    holder.rollback()
    assert len(ledger.add([entry(1)])) == 1


def test_a_folder_one_may_not_write_to_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    with pytest.raises(LedgerError, match=r"file/ledger\.sqlite could not be opened"):
        Ledger(blocker / "ledger.sqlite")


@pytest.mark.parametrize("url", ["nosuch://host/db", "postgresql+psycopg://u:secret@127.0.0.1:1/db", "://"])
def test_a_url_that_leads_nowhere_is_an_error_without_its_password(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///ledger.sqlite",
        "sqlite+aiosqlite:////tmp/x.sqlite",
        "postgresql+asyncpg://u@h/db",
    ],
)
def test_a_url_whose_replies_would_be_lost_or_never_written_is_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match=r"the ledger's URL .*cannot be used: (name the|the driver of)"):
        Ledger(url)
    assert list(tmp_path.iterdir()) == []


def test_a_url_may_name_a_whole_path(tmp_path: Path) -> None:
    Ledger(f"sqlite:///{tmp_path}/ledger.sqlite").close()
    assert (tmp_path / "ledger.sqlite").is_file()


def _fill(file: str, limit: int, done: multiprocessing.SimpleQueue[tuple[int, str]]) -> None:
    """Write until the process may not make files any larger: what a full disk looks like to SQLite."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    ledger = Ledger(file)
    count = 0
    try:
        for count in range(10_000):
            ledger.add([entry(count, Reply("x" * 2000))])
    except LedgerError as error:
        done.put((count, str(error)))


def test_a_full_disk_is_an_error_and_loses_nothing_committed(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    done = spawn.SimpleQueue()
    file = tmp_path / "ledger.sqlite"
    process = spawn.Process(target=_fill, args=(str(file), 600_000, done))
    process.start()
    process.join(60)
    count, error = done.get()
    assert count > 20
    assert str(file) in error
    assert "all that was committed so far is kept" in error
    assert len(Ledger(file).known([entry(i).key for i in range(10_000)])) == count


def test_a_chat_on_a_ledger_that_cannot_be_written_ends_with_that_error(
    server: ScriptedServer, make_chat: MakeChat, ledger_file: Path
) -> None:
    server.responders.append(echo)
    chat = make_chat(ledger=Ledger(ledger_file, busy_seconds=0.1))
    chat.ask(token_asks(5))
    holder = sqlite3.connect(ledger_file)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="locked"):
        chat.ask(token_asks(30))
    holder.rollback()
    assert tokens(make_chat().ask(token_asks(30))) == [str(i) for i in range(30)]


def test_a_new_ledger_is_readable_like_any_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    Ledger(tmp_path / "ledger.sqlite").close()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "ledger.sqlite")]
    assert modes[0] == modes[1]
