"""A language as stages use it: one pass over a text, overlap from two, grammar, digest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.language.language import load_language
from tests.language.shipped import CODES, SEEDS, missing_package, shipped
from tests.language.test_identify import SAMPLES


@pytest.mark.parametrize("code", CODES)
def test_one_pass_finds_what_the_single_questions_find(code: str) -> None:
    language = shipped(code)
    if missing_package(language):
        pytest.skip(f"{missing_package(language)} is not installed here")
    text = SAMPLES[code] + " 3.5 abc!"
    facts = language.analyse(text)
    assert facts.text == text
    assert list(facts.words) == language.tokenise(text)
    assert facts.word_count == language.word_count(text) == len(facts.words)
    assert facts.content == language.content_words(text)
    assert facts.key == language.key(text)
    assert facts.verdict == language.identify(text)
    assert language.overlap(SAMPLES[code], text) == facts.overlap_with(language.analyse(SAMPLES[code])) == 1.0


@pytest.mark.parametrize(
    ("code", "proverb", "text", "share"),
    [
        ("en", "Barking dogs seldom bite", "He barked at cats.", 0.0),
        ("en", "Barking dogs seldom bite", "Dogs bite, dogs bite!", 0.5),
        ("en", "He is", "He is here.", 1.0),
        ("en", "He is", "She is he", 0.0),
        ("en", "the art", "the artist", 0.0),
        ("en", "", "anything", 0.0),
        ("en", "?!", "anything?!", 0.0),
        ("en", "Every cloud has a silver lining", "every CLOUD has\u00a0a silver\u00adlining", 1.0),
        ("ar", "الصبر مفتاح الفرج", "قالوا: والصبرُ مفتاحُ الفَرَج", 1.0),
        ("am", "ድር ቢያብር አንበሳ ያስር", "ድርቢያብር አንበሳ ያሥር", 1.0),
        ("id", "Air susu dibalas air tuba", "Begitulah: air-susu di balas air tuba.", 1.0),
        ("ja", "石の上にも三年", "石の上に 三年いた。", 1.0),
        ("zh", "亡羊补牢", "他亡羊，补牢。", 1.0),
    ],
)
def test_overlap(code: str, proverb: str, text: str, share: float) -> None:
    assert round(shipped(code).overlap(proverb, text), 4) == share


@pytest.mark.parametrize("code", CODES)
@given(text=st.text(max_size=40), proverb=st.text(max_size=12))
def test_overlap_is_a_share(code: str, text: str, proverb: str) -> None:
    language = shipped(code)
    if missing_package(language):
        pytest.skip(f"{missing_package(language)} is not installed here")
    assert 0.0 <= language.overlap(proverb, text) <= 1.0
    assert language.overlap(text, text) == (1.0 if language.key(text) else 0.0)


@pytest.mark.parametrize("code", [code for code in CODES if shipped(code).spec.tokeniser == "words"])
@given(text=st.text(max_size=40))
@example(text="_a_ don't' \ufdd0b e\u0301 \u0301x İI ǰ\u0323")
def test_content_words_are_the_keys_of_the_words(code: str, text: str) -> None:
    language = shipped(code)
    keys = {language.key(word) for word in language.tokenise(text)}
    assert language.content_words(text) == keys - language.stopwords - {""}


@pytest.mark.parametrize("code", CODES)
def test_the_grammar_lets_the_language_be_written(code: str) -> None:
    language = shipped(code)
    pattern = language.grammar_pattern(200)
    schema = {"type": "string", "pattern": pattern}
    for text in (
        SAMPLES[code],
        language.strings.question,
        language.strings.scenario,
        language.strings.answer,
    ):
        assert re.fullmatch(pattern, text), [c for c in text if not re.match(f"[{language.spec.grammar}]", c)]
        jsonschema.validate(text, schema)
    assert not re.search(pattern, "")
    assert not re.search(pattern, "Жж\n")
    assert not re.search(language.grammar_pattern(5), SAMPLES[code])
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("code", CODES)
def test_the_strings_are_in_the_language(code: str) -> None:
    language = shipped(code)
    strings = language.strings
    for text in (strings.question, strings.instruction_for([])):
        assert language.identify(text).verdict != "no", text
    shown = strings.instruction_for(language.spec.options.latin)
    assert all(label in shown for label in "ABCD")
    assert "{" not in shown


@pytest.mark.parametrize("code", CODES)
def test_a_shipped_file_is_honest(code: str) -> None:
    spec = shipped(code).spec
    assert spec.status == "draft"
    assert any("not reviewed" in note for note in spec.notes)
    assert spec.codes.langdetect or spec.decisive_scripts or any("identifier" in n for n in spec.notes)
    assert spec.codes.stopwordsiso or any("stopword list" in note for note in spec.notes)


def test_the_digest_follows_the_data_not_the_layout(tmp_path: Path) -> None:
    source = (SEEDS / "en" / "language.yaml").read_text(encoding="utf-8")
    digests = []
    for number, text in enumerate([source, f"# a comment\n{source}\n\n", source.replace("fits", "suits")]):
        file = tmp_path / f"l{number}" / "language.yaml"
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
        digests.append(load_language(file).digest)
    assert digests[0] == digests[1] != digests[2]
    assert re.fullmatch("[0-9a-f]{64}", digests[0])
