from __future__ import annotations

import pytest

from pipeline.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc\u202edcba", "abc[U+202E]dcba"),
        ("\u2067abc\u2069", "[U+2067]abc[U+2069]"),
        ("\x1b[31mred\x07", "[U+001B][31mred[U+0007]"),
        ("a\rb\u2028c\x85d", "a[U+000D]b[U+2028]c[U+0085]d"),
        ("\ufefftext", "[U+FEFF]text"),
        ("half\ud83d", "half[U+D83D]"),
        ("tag\U000e0041", "tag[U+E0041]"),
    ],
)
def test_what_hides_or_turns_text_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "می‌روم",
        "क्‍ष",
        "العربية\u200f",
        "ሰላም፡ለዓለም።",
        "光合成は植物が行う。",
        "a\tb\nc",
        "👩‍🏫 <script> {{7*7}} =1+1",
    ],
)
def test_ordinary_writing_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
