from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pipeline.embed.cache import CachedEmbedder
from pipeline.embed.interface import Vectors
from pipeline.errors import LedgerError, PrerequisiteError
from tests.embed.hash_embedder import HashEmbedder

REPOSITORY = Path(__file__).parents[2]


class NoModel(HashEmbedder):
    """An embedder whose identity is known and whose model cannot be loaded."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise PrerequisiteError("loaded")

    def cut(self, texts: Sequence[str]) -> list[bool]:
        raise PrerequisiteError("loaded")


class Dies(HashEmbedder):
    """Breaks at one text, as a killed process would."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if "t299" in texts:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_each_distinct_text_is_embedded_once(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, tmp_path / "vectors.sqlite")
    first = cached.embed(["a", "b", "a"])
    assert inner.embedded == ["a", "b"]
    assert np.array_equal(first, HashEmbedder().embed(["a", "b", "a"]))
    again = CachedEmbedder(inner, tmp_path / "vectors.sqlite").embed(["b", "c"])
    assert inner.embedded == ["a", "b", "c"]
    assert np.array_equal(again, HashEmbedder().embed(["b", "c"]))
    assert again.dtype == np.float32


def test_known_texts_load_no_model(tmp_path: Path) -> None:
    texts = ["a", "b" * 2001, "c"]
    warm = CachedEmbedder(HashEmbedder(), tmp_path / "v.sqlite").embed(texts)
    cold = CachedEmbedder(NoModel(), tmp_path / "v.sqlite")
    assert np.array_equal(cold.embed(texts), warm)
    assert cold.cut(texts) == [False, True, False]
    with pytest.raises(PrerequisiteError, match="loaded"):
        cold.embed(["d"])


def test_where_one_may_not_write_known_vectors_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm = CachedEmbedder(HashEmbedder(), tmp_path / "v.sqlite").embed(["a"])
    monkeypatch.setattr("os.access", lambda place, mode: False)
    monkeypatch.setattr("pipeline.embed.cache._BUSY_SECONDS", 0.1)
    with sqlite3.connect(tmp_path / "v.sqlite") as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert np.array_equal(CachedEmbedder(NoModel(), tmp_path / "v.sqlite").embed(["a"]), warm)


def test_another_embedder_reuses_nothing(tmp_path: Path) -> None:
    CachedEmbedder(HashEmbedder(64), tmp_path / "v.sqlite").embed(["a"])
    other = HashEmbedder(32)
    assert CachedEmbedder(other, tmp_path / "v.sqlite").embed(["a"]).shape == (1, 32)
    assert other.embedded == ["a"]


def test_texts_that_differ_in_a_mark_are_different_texts(tmp_path: Path) -> None:
    inner = HashEmbedder()
    texts = ["é", "e\u0301", "é ", "a\x00b", "a\x00c", "\ud800"]
    CachedEmbedder(inner, tmp_path / "v.sqlite").embed(texts)
    assert inner.embedded == texts


def test_more_texts_than_one_query_holds(tmp_path: Path) -> None:
    texts = [f"t{i}" for i in range(1203)]
    cached = CachedEmbedder(HashEmbedder(8), tmp_path / "v.sqlite")
    assert np.array_equal(cached.embed(texts), cached.embed(texts[::-1])[::-1])


def test_nothing_asked_nothing_embedded(tmp_path: Path) -> None:
    assert CachedEmbedder(HashEmbedder(), tmp_path / "v.sqlite").embed([]).shape == (0, 64)


def test_what_came_before_a_break_is_kept(tmp_path: Path) -> None:
    texts = [f"t{i}" for i in range(300)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Dies(), tmp_path / "v.sqlite").embed(texts)
    after = HashEmbedder()
    CachedEmbedder(after, tmp_path / "v.sqlite").embed(texts)
    assert after.embedded == texts[256:]


def test_several_processes_share_a_new_file(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from pipeline.embed.cache import CachedEmbedder;"
        "from tests.embed.hash_embedder import HashEmbedder;"
        "cached = CachedEmbedder(HashEmbedder(8), Path(sys.argv[1]));"
        "[cached.embed([f't{i}' for i in range(start, start + 40)]) for start in range(0, 400, 20)]"
    )
    path = tmp_path / "v.sqlite"
    command = [sys.executable, "-c", program, str(path)]
    running = [subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE) for _ in range(4)]
    ends = [(process.communicate()[1].decode(), process.returncode) for process in running]
    assert ends == [("", 0)] * 4
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (420,)


def test_a_damaged_file_is_named_and_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"not a database" * 400)
    inner = HashEmbedder()
    with pytest.raises(
        LedgerError, match=r"v\.sqlite: the vector cache cannot be used.*delete it: this is safe"
    ):
        CachedEmbedder(inner, path).embed(["a"])
    assert inner.embedded == []
    assert path.read_bytes() == b"not a database" * 400


def test_a_file_cut_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    texts = [f"t{i}" for i in range(500)]
    CachedEmbedder(HashEmbedder(), path).embed(texts)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(LedgerError, match=r"v\.sqlite: the vector cache cannot be used"):
        CachedEmbedder(HashEmbedder(), path).embed(texts)
