from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pipeline.hashing import stable_hash, stable_order, stable_permutation, stable_unit

PARTS = st.lists(st.one_of(st.text(), st.integers()), max_size=4)


def test_golden_values() -> None:
    assert stable_hash("ja-1", 7) == 1760029940756116123
    assert stable_permutation(4, 20250901, "answer", "ja-2") == [1, 2, 3, 0]
    assert stable_order(["a", "b", "c", "d"], 1) == ["b", "d", "c", "a"]
    assert stable_unit("ja-1", 7) == 0.0954114142703657


def test_the_hash_is_sha256_over_sizes_and_kinds() -> None:
    # Written out, so that another program can repeat it: kind and text, each part led by its size.
    written = b"\0\0\0\0\0\0\0\x05sja-1" + b"\0\0\0\0\0\0\0\x02i7"
    assert stable_hash("ja-1", 7) == int.from_bytes(hashlib.sha256(written).digest()[:8])


@given(PARTS, PARTS)
def test_other_parts_have_another_hash(one: list[str | int], other: list[str | int]) -> None:
    assert (stable_hash(*one) == stable_hash(*other)) == (one == other)


def test_parts_do_not_run_together() -> None:
    assert stable_hash("ab", "c") != stable_hash("a", "bc")
    assert stable_hash("a", "") != stable_hash("a")
    assert stable_hash(1) != stable_hash("1")
    assert stable_hash("i1") != stable_hash(1)


def test_half_a_surrogate_pair_has_a_hash() -> None:
    assert stable_hash("\ud83d") != stable_hash("\ud83e")


def test_another_process_draws_the_same() -> None:
    program = "from pipeline.hashing import stable_order; print(stable_order(map(str, range(9)), 'x'))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == str(stable_order(map(str, range(9)), "x"))


def test_an_item_more_moves_no_other() -> None:
    before = stable_order(["a", "b", "c", "d"], 1)
    after = stable_order(["a", "b", "c", "d", "e"], 1)
    assert [item for item in after if item != "e"] == before


@given(st.permutations(range(6)), st.integers())
def test_order_does_not_depend_on_the_order_given(items: list[int], salt: int) -> None:
    assert stable_order(items, salt) == stable_permutation(6, salt)


def test_draws_are_even() -> None:
    firsts = Counter(stable_permutation(4, "p", i)[0] for i in range(4000))
    assert all(900 < firsts[place] < 1100 for place in range(4))
    units = [stable_unit("u", i) for i in range(4000)]
    assert 0 <= min(units) < 0.01 < 0.99 < max(units) < 1
    assert 0.48 < sum(units) / len(units) < 0.52
