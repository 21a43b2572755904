from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.store.root import Root, find_root

SHIPPED = {"ja", "en", "ar", "am", "id", "yo", "sw", "tr", "hi", "th", "zh", "ko", "fa", "jv", "su"}


def _language(root: Path, code: str) -> Path:
    file = root / "seeds" / code / "language.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("", encoding="utf-8")
    return file


def test_languages_are_folders_with_a_file_in_the_root_or_shipped(tmp_path: Path, project: Path) -> None:
    _language(tmp_path / "own", "zz")
    _language(tmp_path / "shipped", "aa")
    (tmp_path / "own" / "seeds" / "empty").mkdir()
    assert Root(tmp_path / "own", tmp_path / "shipped").languages() == ["aa", "zz"]
    assert set(Root(project, project).languages()) >= SHIPPED


def test_the_roots_own_file_wins(tmp_path: Path) -> None:
    shipped = _language(tmp_path / "shipped", "aa")
    root = Root(tmp_path / "own", tmp_path / "shipped")
    assert root.language("aa") == shipped
    own = _language(tmp_path / "own", "aa")
    assert root.language("aa") == own


@pytest.mark.parametrize("lang", ["../aa", "/aa", "a/b", "", ".", "a b"])
def test_a_path_is_no_name(tmp_path: Path, lang: str) -> None:
    with pytest.raises(ConfigError, match=r"lang: .* is not a name"):
        Root(tmp_path, tmp_path).language(lang)


def test_the_nearest_marked_folder_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert find_root(inner) == tmp_path
