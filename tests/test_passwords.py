from __future__ import annotations

import pytest

from pipeline.errors import PrerequisiteError
from pipeline.passwords import without_passwords


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://u:secret@box:1/v1", "https://u:***@box:1/v1"),
        ("postgresql+psycopg://u:se@cr:et@h/db?x=1", "postgresql+psycopg://u:***@h/db?x=1"),
        ('["http://u:a@b", "http://:c@d"]', '["http://u:***@b", "http://:***@d"]'),
    ],
)
def test_passwords_are_left_out(text: str, told: str) -> None:
    assert without_passwords(text) == told
    assert str(PrerequisiteError(f"{text}: not there")) == f"{told}: not there"


@pytest.mark.parametrize("text", ["http://box:11434/a@b", "u@box: no", "https://u@box", "a://b and c:d@e"])
def test_other_texts_stay(text: str) -> None:
    assert without_passwords(text) == text
