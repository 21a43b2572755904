"""Verdicts: the same every time, whatever stands around a text, and each with its evidence."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError, PrerequisiteError
from pipeline.language.identifiers import GlotlidIdentifier, LangdetectIdentifier
from pipeline.language.language import Language, load_language
from pipeline.language.spec import LanguageSpec
from tests.language.fasttext_model import write_model
from tests.language.shipped import CODES, SEEDS, shipped

SAMPLES = {
    "am": "ሰላም ለዓለም ዛሬ ጥሩ ቀን ነው",
    "ar": "ذهب الأولاد إلى المدرسة في الصباح الباكر",
    "en": "Barking dogs seldom bite the hand that feeds them",
    "fa": "بچه‌ها دیروز به مدرسه رفتند و چیزهای زیادی یاد گرفتند",
    "hi": "अब पछताए होत क्या जब चिड़िया चुग गई खेत",
    "id": "Anak-anak pergi ke sekolah pada pagi hari untuk belajar",
    "ja": "猿も木から落ちるという諺がある",
    "jv": "Bocah-bocah wingi padha mangkat sekolah lan sinau akeh banget",
    "ko": "가는 말이 고와야 오는 말이 곱다",
    "su": "Barudak kamari indit ka sakola jeung diajar loba pisan",
    "sw": "Watoto walienda shuleni jana na walijifunza mambo mengi",
    "th": "น้ำขึ้นให้รีบตัก",
    "tr": "Çocuklar dün okula gittiler ve çok şey öğrendiler",
    "yo": "Ọmọ tí kò bá gbọ́ ti ìyá rẹ̀ á gbọ́ ti ayé",
    "zh": "孩子们昨天去学校学习了很多新的东西，大家都非常高兴",
}
UNKNOWN = {"jv", "su"}
"""Languages that nothing here can confirm: their own sentences are undecided, and say so."""

AROUND = st.text(
    st.one_of(
        st.characters(categories=("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Nd", "Zs")),
        st.sampled_from("\u200e\u200f\u202b\u202c\u2067\u2069\ufeff😀👍🏽$+€"),
    ),
    max_size=8,
)


@pytest.mark.parametrize("code", CODES)
def test_a_language_accepts_its_own_and_refuses_other_scripts(code: str) -> None:
    language = shipped(code)
    own = language.identify(SAMPLES[code])
    assert own.verdict == ("undecided" if code in UNKNOWN else "yes")
    assert own.script_share == 1.0
    for other, text in SAMPLES.items():
        if not set(language.spec.scripts) & set(shipped(other).spec.scripts):
            verdict = language.identify(text)
            assert (verdict.verdict, verdict.script_share) == ("no", 0.0), (other, verdict)


@pytest.mark.parametrize("code", CODES)
def test_no_language_says_yes_to_another_that_ships(code: str) -> None:
    # Close relatives that langdetect does not know pass for the one it knows; their files' notes say so.
    relatives = {("id", "jv"), ("id", "su")}
    yes = {other for other, text in SAMPLES.items() if shipped(code).identify(text).verdict == "yes"}
    assert yes <= {code} | {theirs for ours, theirs in relatives if ours == code}


@pytest.mark.parametrize("code", CODES)
@given(before=AROUND, after=AROUND)
def test_what_stands_around_a_text_does_not_matter(code: str, before: str, after: str) -> None:
    language = shipped(code)
    alone, surrounded = language.identify(SAMPLES[code]), language.identify(before + SAMPLES[code] + after)
    assert (surrounded.verdict, surrounded.script_share) == (alone.verdict, alone.script_share)


@given(text=st.text(max_size=30))
def test_any_text_gets_a_verdict(text: str) -> None:
    for code in CODES:
        assert shipped(code).identify(text).verdict in ("yes", "no", "undecided")


def test_the_same_text_gets_the_same_answer_in_every_thread() -> None:
    # Short and ambiguous on purpose: unseeded, langdetect changes its mind about these.
    texts = ["今天天气很好", "Alon-alon waton kelakon", "Mo fe lo si oja", "नाच न जाने आँगन टेढ़ा"]
    guess = LangdetectIdentifier().guess
    first = [guess(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        again = list(pool.map(guess, texts * 20))
    assert again == first * 20


def test_the_same_text_gets_the_same_answer_in_every_process() -> None:
    script = (
        "from pipeline.language.identifiers import LangdetectIdentifier as I\n"
        "print([sorted(I().guess(t).items()) for t in ('今天天气很好', 'Mo fe lo si oja', 'abc')])"
    )
    outputs = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            cwd=SEEDS.parent,
            capture_output=True,
            check=True,
            text=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_evidence_says_what_was_counted() -> None:
    arabic = shipped("ar").identify("پدر و مادر گفتند چگونه برویم؟")
    assert arabic.verdict == "no"
    assert arabic.reason == "4 letters of Persian, Urdu, Pashto or Kurdish"
    assert arabic.evidence == {"letters": 23, "script_share": 1.0, "look_alikes": 4}
    mixed = shipped("am").identify("ሰላም abc ነው")
    assert (mixed.verdict, mixed.script_share) == ("no", 0.625)
    assert mixed.reason == "62% of its letters are Ethiopic"


def test_the_share_asked_for_is_the_callers() -> None:
    assert shipped("am").identify("ሰላም abc ነው", 0.6).verdict == "yes"
    assert shipped("am").analyse("ሰላም abc ነው", 0.6).verdict.verdict == "yes"


def test_web_and_mail_addresses_do_not_count() -> None:
    text = "ሰላም ነው https://www.example.com/a/very/long/path?q=1 someone@example.org"
    assert shipped("am").identify(text).script_share == 1.0


@dataclass
class Counting:
    """An identifier that knows what it is told and notes what it was asked."""

    answer: dict[str, float]
    asked: list[str] = field(default_factory=list)
    identity: str = "counting 1"

    def names(self, spec: LanguageSpec) -> frozenset[str]:
        return frozenset([spec.codes.iso639_3])

    def mistakes(self, spec: LanguageSpec) -> frozenset[str]:
        return frozenset(spec.mistaken_for)

    def guess(self, text: str) -> dict[str, float]:
        self.asked.append(text)
        return self.answer


def with_identifier(code: str, answer: dict[str, float]) -> tuple[Language, Counting]:
    identifier = Counting(answer)
    return load_language(SEEDS / code / "language.yaml", identifier), identifier


LONG = "Bocah-bocah wingi padha mangkat sekolah, lan sinau akeh!"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"jav": 0.6, "ind": 0.4}, "yes"),
        ({"eng": 0.95}, "no"),
        ({"eng": 0.85}, "undecided"),
        ({"id": 0.99}, "undecided"),
        ({}, "undecided"),
    ],
)
def test_any_identifier_can_be_given(answer: dict[str, float], verdict: str) -> None:
    language, _ = with_identifier("jv", answer)
    assert language.identify(LONG).verdict == verdict


def test_a_text_is_identified_once_and_without_its_punctuation() -> None:
    language, identifier = with_identifier("jv", {"jav": 1.0})
    facts = language.analyse(LONG)
    facts.overlap_with(language.analyse("Alon-alon"))
    assert identifier.asked == ["Bocah bocah wingi padha mangkat sekolah lan sinau akeh"]


def test_a_short_text_is_not_given_to_statistics() -> None:
    language, identifier = with_identifier("jv", {"eng": 1.0})
    assert language.identify("Becik ketitik").verdict == "undecided"
    assert identifier.asked == []


def test_an_identifier_changes_the_digest_and_the_default_does_not() -> None:
    language, _ = with_identifier("jv", {})
    assert language.digest != shipped("jv").digest


def test_glotlid_without_its_package_or_file_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("fasttext"):
        with pytest.raises(ConfigError, match="no such file"):
            GlotlidIdentifier(tmp_path / "model.bin")
        (tmp_path / "bad.bin").write_bytes(b"not a model")
        with pytest.raises(ConfigError, match="not a fastText model"):
            GlotlidIdentifier(tmp_path / "bad.bin")
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'adage\[glotlid\]'"):
        GlotlidIdentifier(tmp_path / "model.bin")


def test_glotlid_reads_fasttext_labels(tmp_path: Path) -> None:
    pytest.importorskip("fasttext", reason="the package fasttext is not installed")
    vectors = {"Java": [1.0, 0.0, 0.0], "dogs": [0.0, 1.0, 0.0]}
    words = dict.fromkeys(SAMPLES["jv"].split(), vectors["Java"])
    words |= dict.fromkeys(SAMPLES["en"].split(), vectors["dogs"])
    labels = {"jav_Latn": [3.0, 0.0, 0.0], "jav_Java": [1.0, 0.0, 0.0], "eng_Latn": [0.0, 3.0, 0.0]}
    write_model(tmp_path / "model.bin", labels, words)
    identifier = GlotlidIdentifier(tmp_path / "model.bin")
    language = load_language(SEEDS / "jv" / "language.yaml", identifier)
    # softmax(3, 1, 0), the two scripts of one language added up
    assert identifier.guess(SAMPLES["jv"]) == pytest.approx({"jav": 0.9580, "eng": 0.0420}, abs=1e-3)
    assert language.identify(SAMPLES["jv"]).verdict == "yes"
    assert language.identify(SAMPLES["en"]).verdict == "no"
    assert identifier.identity.startswith("glotlid ")
