"""Rules of the house that no other tool enforces."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FORBIDDEN = [
    (r"^\s*(from|import) prefect", ["pipeline"]),
    (r"os\.environ|os\.getenv", ["pipeline"]),
    (r"lang(uage)? *== *['\"]", ["pipeline", "flows"]),
]


@pytest.mark.parametrize(("pattern", "folders"), FORBIDDEN)
def test_what_must_not_stand_in_the_code(project: Path, pattern: str, folders: list[str]) -> None:
    files = [file for folder in folders for file in (project / folder).rglob("*.py")]
    assert len(files) > 10
    found = [str(f) for f in files if re.search(pattern, f.read_text(encoding="utf-8"), re.MULTILINE)]
    assert found == []


def test_package_files_are_empty(project: Path) -> None:
    files = list((project / "pipeline").rglob("__init__.py"))
    assert len(files) >= 7
    assert [str(f) for f in files if f.read_text(encoding="utf-8")] == []
