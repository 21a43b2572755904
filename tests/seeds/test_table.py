from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import SeedError
from pipeline.seeds.table import read_seeds, read_splits


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,train,1.0\nb,test,1.0\na,test,1.0\n", "row 4, column proverb_id: 'a' stands in row 2 too"),
        ("a,train,1.0\na,train,1.0\n", "row 3, column proverb_id: 'a' stands in row 2 too"),
        ("a,train,1.0\n,test,1.0\n", "row 3, column proverb_id: empty"),
        ("a,trian,1.0\n", "row 2, column split: 'trian'; allowed: train, validation, test"),
    ],
)
def test_splits_that_cannot_be_meant_are_named_by_row(tmp_path: Path, rows: str, said: str) -> None:
    path = tmp_path / "splits.csv"
    path.write_text(f"proverb_id,split,since\n{rows}", encoding="utf-8")
    with pytest.raises(SeedError, match=said) as caught:
        read_splits(path)
    assert str(path) in str(caught.value)


def test_splits_come_back_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "splits.csv"
    path.write_text("proverb_id,split,since\nb,test,1.0\na,train,1.1\n", encoding="utf-8")
    assert [(row["proverb_id"], row["split"]) for row in read_splits(path)] == [("b", "test"), ("a", "train")]


def test_blanks_round_a_cell_that_a_hand_left_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "proverbs.csv"
    path.write_text(
        "proverb_id,text,meaning,status,variant_of\n"
        'en-1 ," Time flies\u00a0",  ,reviewed ,\n'
        'en-2,"A stitch in time\n",m,, en-1\n',
        encoding="utf-8",
    )
    rows = read_seeds(path, "en")
    told = [[row[c] for c in ("proverb_id", "text", "meaning", "status", "variant_of")] for row in rows]
    assert told == [
        ["en-1", "Time flies", "", "reviewed", ""],
        ["en-2", "A stitch in time", "m", "draft", "en-1"],
    ]
    (tmp_path / "splits.csv").write_text("proverb_id,split,since\nen-1, test ,1.0\n", encoding="utf-8")
    assert read_splits(tmp_path / "splits.csv") == [{"proverb_id": "en-1", "split": "test", "since": "1.0"}]
