from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.language.language import load_language
from pipeline.seeds.table import read_seeds


@pytest.mark.parametrize("lang", ["ja", "en", "ar", "am", "id"])
def test_starter_seeds_are_whole_and_say_that_they_are_drafts(project: Path, lang: str) -> None:
    language = load_language(project / "seeds" / lang / "language.yaml")
    rows = read_seeds(project / "seeds" / lang / "proverbs.csv", lang)
    assert len(rows) >= 60
    assert {(row["status"], row["source"]) for row in rows} == {("draft", "unverified")}
    assert len({language.key(row["text"]) for row in rows}) == len(rows)
    for row in rows:
        assert row["meaning"]
        assert row["meaning_en"]
        assert language.key(row["text"]) not in language.key(row["meaning"])
        assert language.identify(row["text"]).verdict != "no", row["text"]
