from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capr.splitting import assign_splits, held_out
from pipeline.errors import SeedError


def _assign(
    proverbs: int | list[str],
    *,
    frozen: dict[str, str] | None = None,
    groups: dict[str, str] | None = None,
    seed: int = 1,
) -> dict[str, str]:
    """Splits of p0000, p0001, ... or of the ids given, in eight clusters by number."""
    ids = [f"p{i:04d}" for i in range(proverbs)] if isinstance(proverbs, int) else proverbs
    return assign_splits(
        ids,
        clusters={p: int(p[1:]) % 8 for p in ids},
        groups=groups or {p: p for p in ids},
        frozen=frozen or {},
        run_seed=seed,
    )


@pytest.mark.parametrize(("proverbs", "test"), [(822, 123), (484, 72), (69, 10), (20, 3), (60, 9), (6, 0)])
def test_sizes_are_the_papers(proverbs: int, test: int) -> None:
    counts = Counter(_assign(proverbs).values())
    assert held_out(proverbs) == test
    assert (counts["test"], counts["validation"]) == (test, test)
    assert counts["train"] == proverbs - 2 * test


def test_clusters_are_represented_by_size() -> None:
    splits = _assign(160)
    for held in ("test", "validation"):
        per_cluster = Counter(int(p[1:]) % 8 for p, split in splits.items() if split == held)
        assert per_cluster == dict.fromkeys(range(8), 3)


def test_golden_assignment() -> None:
    splits = _assign(20)
    assert {p for p, split in splits.items() if split == "test"} == {"p0001", "p0010", "p0016"}
    validation = {p for p, split in splits.items() if split == "validation"}
    assert validation == {"p0002", "p0008", "p0009"}


def test_row_order_decides_nothing() -> None:
    before = _assign(69)
    assert _assign(list(before)[::-1]) == before


def test_another_run_seed_splits_otherwise() -> None:
    assert _assign(69, seed=2) != _assign(69, seed=1)


def test_frozen_proverbs_stay_and_new_ones_fill_up() -> None:
    before = _assign(69)
    after = _assign(80, frozen=before)
    assert all(after[p] == split for p, split in before.items())
    assert Counter(after.values()) == {"test": 12, "validation": 12, "train": 56}


def test_a_removal_moves_no_other() -> None:
    before = _assign(69)
    removed = [p for p, split in before.items() if split == "test"][:4]
    after = _assign([p for p in before if p not in removed], frozen=before)
    assert all(after[p] == before[p] for p in after)


def test_a_new_variant_joins_its_frozen_relative() -> None:
    before = _assign(69)
    tested = next(p for p, split in before.items() if split == "test")
    ids = [*before, "p0099"]
    groups = {p: p for p in before} | {"p0099": tested}
    assert _assign(ids, frozen=before, groups=groups)["p0099"] == "test"
    # And where the relative itself is gone.
    ids.remove(tested)
    assert _assign(ids, frozen=before, groups=groups)["p0099"] == "test"


def test_variants_frozen_apart_are_refused_by_name() -> None:
    groups = {f"p{i:04d}": "p0001" if i == 2 else f"p{i:04d}" for i in range(20)}
    with pytest.raises(SeedError, match=r"p0001 in test, p0002 in train.*give them one split"):
        _assign(20, frozen={"p0001": "test", "p0002": "train"}, groups=groups)


def test_a_group_larger_than_the_room_stays_in_train() -> None:
    groups = {f"p{i:04d}": "p0000" if i < 15 else f"p{i:04d}" for i in range(20)}
    splits = _assign(20, groups=groups)
    assert {splits[f"p{i:04d}"] for i in range(15)} == {"train"}
    assert Counter(splits.values()) == {"test": 3, "validation": 2, "train": 15}


@given(
    n=st.integers(8, 120),
    links=st.dictionaries(st.integers(0, 119), st.integers(0, 119), max_size=40),
    more=st.integers(0, 20),
    seed=st.integers(0, 9),
)
def test_variants_share_a_split_and_growth_moves_nobody(
    n: int, links: dict[int, int], more: int, seed: int
) -> None:
    ids = [f"p{i:04d}" for i in range(n)]
    groups = {p: f"p{links.get(i, i) % n:04d}" for i, p in enumerate(ids)}
    splits = _assign(ids, groups=groups, seed=seed)
    assert set(splits) == set(ids)
    for group in set(groups.values()):
        assert len({splits[p] for p in ids if groups[p] == group}) == 1
    counts = Counter(splits.values())
    assert counts["test"] <= held_out(n)
    assert counts["validation"] <= held_out(n)
    if len(set(groups.values())) == n:
        assert counts["test"] == counts["validation"] == held_out(n)
    grown = [*ids, *(f"p{i:04d}" for i in range(n, n + more))]
    after = _assign(grown, frozen=splits, groups={p: groups.get(p, p) for p in grown}, seed=seed + 1)
    assert all(after[p] == splits[p] for p in ids)
    assert Counter(after.values())["test"] >= counts["test"]
