"""Tokenisers beside the tables: threads, missing packages, long texts."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipeline.errors import PrerequisiteError
from pipeline.language.language import load_language
from pipeline.language.tokenisers import TOKENISERS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l·l e.g. U.S.A. 1,000.50", ["l·l", "e.g", "U.S.A", "1,000.50"]),
        ("C++ 100% #tag @me", ["C", "100", "tag", "me"]),
        ("فارسی می\u200cروم שלום", ["فارسی", "می\u200cروم", "שלום"]),
        ("カタカナ ひらがな 漢字", ["カタカナ", "ひ", "ら", "が", "な", "漢", "字"]),
        ("፲፪ ቀን Ⅻ ², x²", ["፲፪", "ቀን", "Ⅻ", "²", "x", "²"]),
        ("\u0301 _ __ a_b", ["a_b"]),
        ("a\u2060b c\ufeffd e\u200bf", ["ab", "cd", "e", "f"]),
        ("ⴰⵣⵓⵍ ᏣᎳᎩ ᱥᱟᱱᱛᱟᱲᱤ 𞤀𞤁𞤂", ["ⴰⵣⵓⵍ", "ᏣᎳᎩ", "ᱥᱟᱱᱛᱟᱲᱤ", "𞤀𞤁𞤂"]),
    ],
)
def test_words_are_unicodes(text: str, words: list[str]) -> None:
    assert TOKENISERS["words"](text)[0] == words


@pytest.mark.parametrize(
    ("text", "words", "bases"),
    [
        ("画蛇添足", ["画", "蛇", "添", "足"], ["画蛇", "蛇添", "添足", ""]),
        ("人，大", ["人", "大"], ["人", "大"]),
        ("ใต้น้ำ", ["ใ", "ต้", "น้", "ำ"], ["ใต้", "ต้น้", "น้ำ", ""]),
        ("", [], []),
    ],
)
def test_characters_compare_by_pairs(text: str, words: list[str], bases: list[str]) -> None:
    assert TOKENISERS["characters"](text) == (words, bases)


def test_janome_gives_base_forms_and_leaves_symbols_out() -> None:
    words, bases = TOKENISERS["janome"]("猫が、走った！★")
    assert words == ["猫", "が", "走っ", "た"]
    assert bases == ["猫", "が", "走る", "た"]


def test_janome_is_shared_by_threads() -> None:
    texts = [f"{name}は{number}時に学校へ行った。" for number in range(8) for name in ("太郎", "花子")]
    alone = [TOKENISERS["janome"](text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(TOKENISERS["janome"], texts)) == alone


def test_a_long_text_without_any_mark_is_split() -> None:
    assert len(TOKENISERS["janome"]("猫が走る" * 1000)[0]) == 3000
    assert len(TOKENISERS["words"]("word " * 20000)[0]) == 20000


@pytest.mark.parametrize(
    ("package", "text", "extra"), [("pythainlp", "แมว", "thai"), ("jieba", "猫", "chinese")]
)
def test_a_missing_package_says_what_to_type(
    package: str, text: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(package):
        assert TOKENISERS[package](text)[0] == [text]
    # Python's own way to make an import fail, so that the message is tested where the package is installed.
    for name in [package, f"{package}.tokenize"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PrerequisiteError, match=rf"pip install 'adage\[{extra}\]' .*tokeniser: characters"):
        TOKENISERS[package](text)


def test_a_language_names_the_packages_that_decide_its_words(project: Path) -> None:
    found = {
        code: load_language(project / "seeds" / code / "language.yaml").libraries
        for code in ("ja", "am", "th", "zh", "en")
    }
    assert found == {
        "ja": ("stopwordsiso", "janome"),
        "am": (),
        "th": ("stopwordsiso", "pythainlp"),
        "zh": ("stopwordsiso",),
        "en": ("stopwordsiso",),
    }
