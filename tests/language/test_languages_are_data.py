"""No code asks which language it is working for."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_no_language_is_compared_by_name() -> None:
    comparison = re.compile(r"""lang(uage)?(\.code)? *(==|!=|in) *[(\[{]?['"]""")
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in ("pipeline", "flows")
        for file in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if comparison.search(line)
    ]
    assert found == []
