from __future__ import annotations

import pytest

from pipeline.capr.defects import Defect, defect, list_entries, repeated_share, shingles

EXAMPLE = "Three flatmates all started cooking for the same party"
PROSE = {
    "en": "Maria copied the figures twice before the meeting and found that one column was wrong.",
    "ar": "راجعت سلمى الأرقام مرتين قبل الاجتماع فوجدت أن أحد الأعمدة خاطئ فصححته بهدوء.",
    "am": "ሰላማዊት ከስብሰባው በፊት ቁጥሮቹን ሁለት ጊዜ አየች እና አንዱ ስህተት መሆኑን አገኘች።",
    "ja": "美咲は会議の前に数字を二度確かめ、一つの列が間違っていることに気づいた。",
}


def _defect(text: str, most_copied: float = 0.3, most_repeated: float = 0.35) -> Defect | None:
    return defect(text, [shingles(EXAMPLE)], most_copied, most_repeated)


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_prose_has_no_defect(text: str) -> None:
    assert _defect(text) is None


def test_a_copy_of_the_prompts_example_by_hand() -> None:
    # Without blanks the example has 46 letters, so 39 runs of eight.
    assert len(shingles(EXAMPLE)) == 39
    assert _defect(EXAMPLE.upper()) == Defect("copied_example", {"share": 1.0, "at_most": 0.3})
    # Half of it, then eleven letters of our own: 16 of 27 runs are the example's.
    half = _defect("Three flatmates all started and went away")
    assert half is not None
    assert half.reason == "copied_example"
    own = shingles("Three flatmates all started and went away")
    assert half.numbers["share"] == round(len(own & shingles(EXAMPLE)) / len(own), 4) > 0.5


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("abcdefgh", 0.0),
        ("abcdefghabcdefgh", 1 / 9),
        ("abababababab", 3 / 5),
        ("a" * 20, 12 / 13),
        ("ab", 0.0),
        ("", 0.0),
    ],
)
def test_repeated_share_by_hand(text: str, share: float) -> None:
    assert repeated_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_a_loop_is_named_with_its_share(text: str) -> None:
    found = _defect(" ".join([text] * 4))
    assert found is not None
    assert (found.reason, found.numbers["at_most"]) == ("loop", 0.35)
    assert 0.6 < found.numbers["share"] < 0.8
    assert str(found) == f"loop: share {found.numbers['share']:g}, at_most 0.35"


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("- one\n- two\n- three", 3),
        ("1. one\n2) two", 2),
        ("1. He came. 2. He saw. 3. He left.", 3),
        ("١. جاء ٢. رأى", 2),
        ("፩. መጣ ፪. አየ ፫. ሄደ", 3),
        ("She ran 2. then 5 miles on day 1.", 0),
        ("At 1. she slept", 1),
        ("A dash - is no list", 0),
    ],
)
def test_entries_of_a_list_by_hand(text: str, entries: int) -> None:
    assert list_entries(text) == entries


def test_blank_and_list() -> None:
    assert _defect(" \n") == Defect("blank")
    assert str(Defect("blank")) == "blank"
    listed = _defect("- Anna paid the bill\n- Omar closed the old shop")
    assert listed == Defect("list", {"entries": 2, "at_most": 1})
