"""`adage language new` and `check`, for languages and scripts of all kinds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from pipeline.errors import ConfigError, SeedError
from pipeline.language.check import advice, check_texts, page
from pipeline.language.language import load_language
from pipeline.language.scripts import HABITS, character_class, grammar_for
from tests.language.shipped import shipped

HAUSA = [
    *("--name", "Hausa", "--native-name", "Hausa", "--iso639-3", "hau", "--scripts", "Latin", "--shared"),
    *("--letters", "ɓɗƙƴ", "--own-letters", "ɓɗƙƴ", "--labels", "A,B,C,D", "--scenario", "Yanayi"),
    *(
        "--question",
        "Wace karin magana ce ta dace?",
        "--instruction",
        "Zaɓi {labels} ɗaya.",
        "--answer",
        "Amsa",
    ),
]


def run(*arguments: str, typed: str | None = None) -> str:
    result = CliRunner().invoke(app, ["language", *arguments], input=typed)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_flags_make_a_file_that_works(tmp_path: Path) -> None:
    run("new", "ha", *HAUSA, "--root", str(tmp_path))
    language = load_language(tmp_path / "seeds/ha/language.yaml")
    assert language.spec.codes.model_dump() == {
        "iso639_1": "ha",
        "iso639_3": "hau",
        "langdetect": [],
        "glotlid": [],
        "stopwordsiso": "ha",
    }
    assert language.spec.own_letters == "ɓɗƙƴƁƊƘƳ"
    assert language.spec.grammar == "A-Za-zƁƊƘƙƳƴɓɗ0-9 .,;:!?'()-"
    assert language.tokenise("Kome nisan jifa, ƙasa!") == ["Kome", "nisan", "jifa", "ƙasa"]
    assert language.identify("Kome nisan jifa, ƙasa zai faɗo!").verdict == "yes"
    assert language.identify("Kome nisan jifa").verdict == "undecided"
    assert language.strings.instruction_for(["A", "B"]) == "Zaɓi A, B ɗaya."


def test_questions_make_the_same_file_as_flags(tmp_path: Path) -> None:
    run("new", "ha", *HAUSA, "--root", str(tmp_path / "flags"))
    answers = ["Hausa", "Hausa", "hau", "", "n", "ɓɗƙƴ", "ɓɗƙƴ", "", "Yanayi", HAUSA[-5], HAUSA[-3], "Amsa"]
    run("new", "ha", "--root", str(tmp_path / "asked"), typed="\n".join(answers) + "\n")
    files = [(tmp_path / name / "seeds/ha/language.yaml").read_text("utf-8") for name in ("flags", "asked")]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("code", "iso", "script", "text", "words", "direction"),
    [
        ("lo", "lao", "Lao", "ພາສາລາວ", 7, "ltr"),
        ("he", "heb", "Hebrew", "שלום לכולם", 2, "rtl"),
        ("ckb", "ckb", "Arabic", "زمانی کوردی", 2, "rtl"),
        ("ti", "tir", "Ethiopic", "ሰላም፡ዓለም", 2, "ltr"),
        ("bn", "ben", "Bengali", "আমার বাংলা।", 2, "ltr"),
        ("ka", "kat", "Georgian", "ქართული ენა", 2, "ltr"),
        ("zgh", "zgh", "Tifinagh", "ⴰⵣⵓⵍ ⴼⵍⵍⴰⵡⵏ", 2, "ltr"),
        ("ff", "ful", "Adlam", "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪", 2, "rtl"),
    ],
)
def test_other_scripts_start_from_their_habits(
    tmp_path: Path, code: str, iso: str, script: str, text: str, words: int, direction: str
) -> None:
    flags = [flag if flag != "Latin" else script for flag in HAUSA]
    flags[flags.index("hau")] = iso
    for name in ("--letters", "--own-letters"):
        flags[flags.index(name) + 1] = ""
    flags[flags.index("--shared")] = "--alone"
    # An alphabet outside the basic plane has to be given: the script's own letters are looked up there.
    letters = text.replace(" ", "") if script == "Adlam" else ""
    flags[flags.index("--letters") + 1] = letters
    run("new", code, *flags, "--root", str(tmp_path))
    language = load_language(tmp_path / f"seeds/{code}/language.yaml")
    assert language.direction == direction
    assert language.word_count(text) == words
    assert language.identify(text).verdict == "yes"
    assert check_texts(language, [text])[0].not_allowed == ""


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    run("new", "ha", *HAUSA, "--root", str(tmp_path))
    before = (tmp_path / "seeds/ha/language.yaml").read_bytes()
    with pytest.raises(ConfigError, match="is there already"):
        run("new", "ha", *HAUSA, "--root", str(tmp_path))
    assert (tmp_path / "seeds/ha/language.yaml").read_bytes() == before


def test_a_wrong_answer_writes_nothing(tmp_path: Path) -> None:
    flags = [flag if flag != "Latin" else "Latn1" for flag in HAUSA]
    with pytest.raises(ConfigError, match="scripts: 'Latn1' is not a Unicode script"):
        run("new", "ha", *flags, "--root", str(tmp_path))
    with pytest.raises(ConfigError, match="is not a name"):
        run("new", "../ha", *HAUSA, "--root", str(tmp_path))
    assert list(tmp_path.rglob("*.yaml")) == []


def _with(flag: str, value: str) -> list[str]:
    return [value if before == flag else word for before, word in zip(["", *HAUSA], HAUSA, strict=False)]


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--scripts", "Klingon", "scripts: 'Klingon' is not a Unicode script"),
        ("--scripts", "", "scripts: List should have at least 1 item"),
        ("--iso639-3", "hausa", r"codes\.iso639_3: String should match pattern"),
        ("--labels", "A,B", r"options\.native: List should have at least 4 items"),
        ("--letters", "[x", "grammar: '\\[' cannot stand in grammar"),
        ("--instruction", "Choose", "must hold {labels} exactly once"),
        ("--name", " ", "name: String should have at least 1 character"),
    ],
)
def test_a_wrong_option_is_said_before_the_first_question(
    tmp_path: Path, flag: str, value: str, said: str
) -> None:
    for flags in (_with(flag, value), ["--letters", "", flag, value]):
        result = CliRunner().invoke(app, ["language", "new", "ha", *flags, "--root", str(tmp_path)])
        assert isinstance(result.exception, ConfigError)
        assert re.search(said, str(result.exception))
        assert result.output == ""
    assert list(tmp_path.rglob("*.yaml")) == []


def test_a_wrong_answer_is_asked_for_again_and_loses_none(tmp_path: Path) -> None:
    run("new", "ha", *HAUSA, "--root", str(tmp_path / "flags"))
    answers = [
        " ",
        "Hausa",
        "Hausa",
        "Hausa",
        "hau",
        "Klingon",
        ",",
        "Latin",
        "maybe",
        "n",
        "[",
        "ɓɗƙƴ",
        "ɓɗƙƴ",
    ]
    answers += ["A,B", "A,A,B,C", "A,B,C,D", "Yanayi", HAUSA[-5], "Zaɓi", HAUSA[-3], "Amsa"]
    shown = run("new", "ha", "--root", str(tmp_path / "asked"), typed="\n".join(answers) + "\n")
    assert "\nscripts: 'Klingon' is not a Unicode script, such as Latin, Arabic, Ethiopic\n" in shown
    assert shown.count("Its script or scripts") == 3
    assert shown.count("Labels of four options") == 3
    files = [(tmp_path / name / "seeds/ha/language.yaml").read_text("utf-8") for name in ("flags", "asked")]
    assert files[0] == files[1]


def test_check_shows_the_first_twenty_in_the_terminal_as_json_and_as_a_page(tmp_path: Path) -> None:
    sentences = tmp_path / "s.txt"
    sentences.write_text("\ufeffሰላም፡ለዓለም፡ነው፡፡\n\n" + "ጥሩ ቀን ነው።\n" * 30, encoding="utf-8")
    shown = run("check", "am", "--sentences", str(sentences), "--root", str(tmp_path))
    assert "   words (3): ሰላም | ለዓለም | ነው\n" in shown
    assert "   compared as: ሰላም ለአለም ነው\n" in shown
    assert "   judged: yes (9 of 9 letters are Ethiopic)\n" in shown
    assert "\n20. " in shown
    assert "\n21. " not in shown
    html = (tmp_path / "artifacts/language/am.html").read_text("utf-8")
    assert html.count("<article>") == 20
    printed = json.loads(run("check", "am", "--sentences", str(sentences), "--root", str(tmp_path), "--json"))
    assert printed["texts"][0]["words"] == ["ሰላም", "ለዓለም", "ነው"]
    assert len(printed["texts"]) == 20


def test_check_takes_the_proverbs_where_no_file_is_given(tmp_path: Path) -> None:
    table = tmp_path / "seeds/id/proverbs.csv"
    table.parent.mkdir(parents=True)
    table.write_text("proverb_id,text\nid-1,Air susu dibalas air tuba\n", encoding="utf-8")
    assert "1. Air susu dibalas air tuba" in run("check", "id", "--root", str(tmp_path))


def test_check_without_texts_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds no text"):
        run("check", "id", "--sentences", str(tmp_path / "empty.txt"), "--root", str(tmp_path))
    with pytest.raises(ConfigError, match="cannot be read"):
        run("check", "id", "--sentences", str(tmp_path / "none.txt"), "--root", str(tmp_path))
    with pytest.raises(SeedError, match="adage seeds import"):
        run("check", "id", "--root", str(tmp_path))
    with pytest.raises(ConfigError, match="known are am, ar"):
        run("check", "xx", "--root", str(tmp_path))


def test_advice_names_the_field_to_change() -> None:
    language = shipped("yo")
    checked = check_texts(language, ["The children went to school early in the morning", "Ọmọ ⟨yìí⟩ dára"])
    found = advice(language, checked)
    assert found[0] == "1 of 2 texts would be refused: identified as en (1)."
    assert found[1].startswith("langdetect takes texts for en (1).")
    assert "mistaken_for" in found[1]
    assert found[2] == "Characters that grammar lacks: ⟨ ⟩. Add those that belong to the language."


def test_hostile_texts_are_text_on_the_page() -> None:
    text = "<script>alert(1)</script> {{7*7}} \u202eabc"
    html = page(shipped("en"), check_texts(shipped("en"), [text]))
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}}" in html


def test_a_right_to_left_language_is_laid_out_so() -> None:
    html = page(shipped("ar"), check_texts(shipped("ar"), ["الصبر مفتاح الفرج"]))
    assert '<p class="text" dir="rtl" lang="ar">الصبر مفتاح الفرج</p>' in html
    assert "http" not in html


def test_runs_of_characters_become_ranges() -> None:
    assert character_class("cabxyé-") == "a-cxyé"
    assert grammar_for(["Latin"], "ñ") == "A-Za-zÑñ0-9 .,;:!?'()-"
    assert grammar_for(["Thai"], "").startswith("ก-ฺเ-๎0-9")


@pytest.mark.parametrize("script", sorted(HABITS))
def test_every_listed_script_has_a_usable_start(tmp_path: Path, script: str) -> None:
    flags = [flag if flag != "Latin" else script for flag in HAUSA]
    flags[flags.index("--letters") + 1] = ""
    run("new", "qaa", *flags, "--root", str(tmp_path))
    spec = load_language(tmp_path / "seeds/qaa/language.yaml").spec
    assert spec.scripts == [script]
