"""Profiles, prompts and language files as people save them: what cannot be read is said with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.language.spec import load_spec
from pipeline.profile import load_profile
from pipeline.prompts import load_prompt

PROMPT = b"---\nversion: 1\norigin: ours\nvariables: []\n%s---\n## user\ncaf\xc3\xa9\n"


def _profile(path: Path) -> object:
    return load_profile(path, [])


READERS = [_profile, load_spec, load_prompt]


@pytest.mark.parametrize("read", READERS)
def test_another_encoding_is_named(tmp_path: Path, read: Callable[[Path], object]) -> None:
    file = tmp_path / "file"
    file.write_bytes((PROMPT % b"").replace(b"\xc3", b""))
    with pytest.raises(ConfigError, match=r"file: line \d+ is not UTF-8; save the file as"):
        read(file)


@pytest.mark.parametrize("read", READERS)
def test_a_key_that_stands_twice_is_named_with_its_line(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    file = tmp_path / "file"
    text = b"a: {b: 1}\nc: {d: 1, e: {f: 1,\n  f: 2}}\n"
    file.write_bytes(PROMPT % text if read is load_prompt else text)
    line = 7 if read is load_prompt else 3
    with pytest.raises(ConfigError, match=rf"file: not valid YAML: line {line}: 'f' stands here for the sec"):
        read(file)


def test_what_is_merged_in_may_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a: &a {b: 1}\nc: {<<: *a, b: 2}\n")
    with pytest.raises(ConfigError, match="name: Field required"):
        load_spec(file)


@pytest.mark.parametrize("text", ["a: 2025-13-45", "a: [", "? [a]\n: b", "a: \x07"])
def test_what_is_no_yaml_is_one_paragraph(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(ConfigError, match="file: not valid YAML: ") as caught:
        _profile(file)
    assert "\n" not in str(caught.value)
