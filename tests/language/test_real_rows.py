"""Real proverbs and idioms pass the layer: no exception, and what is found is plausible."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from pipeline.language.language import Language, TextFacts
from tests.language.shipped import shipped

pytestmark = pytest.mark.realdata

DATA = Path(os.environ.get("ADAGE_REALDATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def real(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not here; ADAGE_REALDATA names the folder of the public data files")
    return path


def analysed(language: Language, texts: list[str]) -> list[TextFacts]:
    facts = [language.analyse(text) for text in texts]
    for one in facts:
        assert one.key == language.key(one.key)
        assert all(word.strip() for word in one.words)
        assert one.overlap_with(one) == (1.0 if one.key else 0.0)
    return facts


def verdicts(facts: list[TextFacts]) -> Counter[str]:
    return Counter(one.verdict.verdict for one in facts)


def test_yemeni_proverbs() -> None:
    texts: list[str] = []
    explanations: list[str] = []
    for name in ("Train_data.csv", "Validation_data.csv", "Test_data.csv"):
        with real("ar_yemeni_proverbs", name).open(encoding="utf-8-sig", newline="") as stream:
            for row in csv.DictReader(stream):
                texts.append(row["Proverbs"])
                explanations.append(row["Explanation"])
    proverbs = analysed(shipped("ar"), texts)
    assert len(proverbs) == 533
    assert verdicts(proverbs)["no"] == 0
    assert verdicts(analysed(shipped("ar"), explanations))["no"] == 0
    assert all(shipped("fa").identify(text).verdict != "yes" for text in explanations)


def test_kotowaza() -> None:
    rows = json.loads(real("ja_kotowaza_sepTN", "kotowaza.json").read_text(encoding="utf-8"))
    proverbs = analysed(shipped("ja"), [row["japanese"] for row in rows])
    assert len(proverbs) == 70
    assert verdicts(proverbs)["no"] == 0
    examples = [example["ja"] for row in rows for example in row["examples"]]
    assert set(verdicts(analysed(shipped("ja"), examples))) == {"yes"}
    assert all(shipped("zh").identify(text).verdict == "no" for text in examples)
    readings = analysed(shipped("ja"), [row["romaji"] for row in rows])
    assert set(verdicts(readings)) == {"no"}


def test_two_thousand_chinese_rows() -> None:
    rows = json.loads(real("zh_chengyu", "chengyu.json").read_text(encoding="utf-8"))
    step = len(rows) // 2000
    chosen = rows[::step][:2000]
    idioms = analysed(shipped("zh"), [row["word"] for row in chosen])
    assert len(idioms) == 2000
    assert verdicts(idioms)["no"] == 0
    explanations = [row["explanation"] for row in chosen]
    assert verdicts(analysed(shipped("zh"), explanations))["no"] == 0
    assert verdicts(analysed(shipped("ja"), explanations))["yes"] == 0


def test_indonesian_sentences() -> None:
    texts: list[str] = []
    for name in ("test_copal.csv", "test_copal_colloquial.csv"):
        with real("id_copal", name).open(encoding="utf-8", newline="") as stream:
            texts += [row["premise"] for row in csv.DictReader(stream)]
    found = verdicts(analysed(shipped("id"), texts))
    assert sum(found.values()) == 1118
    assert found["no"] / 1118 < 0.005


def test_neighbours_are_not_refused_and_english_is() -> None:
    with real("nusax_mt", "test.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for code, column in (("jv", "javanese"), ("su", "sundanese"), ("id", "indonesian")):
        assert verdicts(analysed(shipped(code), [row[column] for row in rows]))["no"] == 0
        english = verdicts([shipped(code).analyse(row["english"]) for row in rows])
        assert english["no"] / len(rows) > 0.9
