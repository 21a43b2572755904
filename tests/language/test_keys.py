"""Comparison keys: each step's right answer, and what holds for every key."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.language.keys import STEPS, compile_key, undoing
from tests.language.shipped import CODES, shipped

# Characters that make or break a composition when a neighbour is dropped: marks, jamo, joiners, dotted i.
TRICKY = (
    "aeiIİıſßǰŉ\u0301\u0307\u0323\u0345\u0653\u0654\u093c\u0901\u1100\u1161\u11a8\u200c\u200d\u00ad\u0640"
    "اأىیكکةۀሐፀጐｶﾞ't’ﬁ㍿①、 ."
)
TEXTS = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(codec="utf-8")), max_size=12)

RIGHT = [
    ("nfkc", "ｱﾘｶﾞﾄｳ", "アリガトウ"),
    ("nfkc", "ﻣﺪﻳﻨﺔ", "مدينة"),
    ("nfc", "e\u0301", "é"),
    ("nfc", "ﬁ", "ﬁ"),
    ("case", "ÀB Straße", "àb strasse"),
    ("turkish_case", "IĞDIR İzmir", "ığdır izmir"),
    ("zero_width", "می\u200cروم\u200f\ufeff", "میروم"),
    ("zero_width", "❤\ufe0f", "❤"),
    ("tashkeel", "الصَّبْرُ", "الصبر"),
    ("tashkeel", "هذا\u0670", "هذا"),
    ("tatweel", "أحـــمد", "أحمد"),
    ("nukta", "टेढ\u093cा", "टेढा"),
    ("geez_marks", "በ\u135fላ", "በላ"),
    ("marks", "Ẹ̀kọ́", "Eko"),
    ("alef", "أحمد إلى آخر ٱبن", "احمد الى اخر ابن"),
    ("hamza_seat", "مسؤول شاطئ", "مسوول شاطي"),
    ("ya", "على یوم", "علي يوم"),
    ("kaf", "کتاب", "كتاب"),
    ("ta_marbuta", "مدرسة", "مدرسه"),
    ("persian_ya", "علي", "علی"),
    ("persian_kaf", "كتاب", "کتاب"),
    ("persian_he", "خانۀ", "خانه"),
    ("chandrabindu", "हँसी", "हंसी"),
    ("circumflex", "kâğıt", "kağıt"),
    ("hooked_letters", "ƙasa", "kasa"),
    ("geez_homophones", "ሠላም ሐኪም ፀሐይ ዓለም ኃይል ሥራ", "ሰላም ሀኪም ጸሀይ አለም ሀይል ስራ"),
    ("geez_homophones", "ሑ ኂ ኌ ዒ ፁ ሧ", "ሁ ሂ ኌ ኢ ጹ ሷ"),
    ("apostrophe", "don't don’t ng\u02bcombe 'a'", "dont dont ngombe 'a'"),
    ("punctuation", "ነው። نعم؟ 「はい」 $5", "ነው  نعم   はい   5"),
    ("spaces", "\u3000a\u00a0 b\n", "a b"),
]


@pytest.mark.parametrize(("step", "text", "expected"), RIGHT)
def test_a_step(step: str, text: str, expected: str) -> None:
    forms = [step] if step in ("nfc", "nfkc") else ["nfc", step]
    assert compile_key(forms)(text) == expected


def test_every_step_has_a_right_answer_here() -> None:
    assert {step for step, _, _ in RIGHT} == set(STEPS)


@pytest.mark.parametrize("code", CODES)
@given(text=TEXTS)
@example(text="\u1112\u200b\u1161")
@example(text="e\u200d\u0301")
@example(text="ǰ\u0323")
def test_the_key_of_a_key_is_itself(code: str, text: str) -> None:
    key = shipped(code).key
    assert key(key(text)) == key(text)


@pytest.mark.parametrize("code", CODES)
@given(text=TEXTS)
def test_the_encoding_does_not_matter(code: str, text: str) -> None:
    key = shipped(code).key
    assert key(unicodedata.normalize("NFD", text)) == key(text) == key(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("code", CODES)
@given(text=TEXTS, around=st.text(st.sampled_from(" .,!?…「」«»؟،፡።-\u200f\u00a0"), min_size=1, max_size=5))
def test_punctuation_around_a_text_does_not_matter(code: str, text: str, around: str) -> None:
    key = shipped(code).key
    assert key(around + key(text) + around) == key(text)


def test_steps_that_undo_each_other_are_found() -> None:
    assert undoing(["nfkc", "ya", "kaf", "persian_kaf"]) == ("kaf", "persian_kaf")
    assert undoing(["nfkc", "alef", "hamza_seat", "ya", "kaf", "ta_marbuta"]) is None
    assert undoing(["nfkc", "geez_homophones", "circumflex"]) is None
