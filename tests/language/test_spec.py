"""A wrong language file is refused with its field and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.errors import ConfigError
from pipeline.language.spec import load_spec
from tests.language.shipped import SEEDS


def written(folder: Path, **changes: Any) -> Path:
    data = yaml.safe_load((SEEDS / "en" / "language.yaml").read_text(encoding="utf-8"))
    for name, value in changes.items():
        data[name] = value
    path = folder / "language.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in data.items() if v is not None}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("name", None, "name: Field required"),
        ("nmae", "x", "nmae: Extra inputs are not permitted"),
        ("scripts", [], "scripts: List should have at least 1 item"),
        ("scripts", ["Lattin"], "scripts: 'Lattin' is not a Unicode script"),
        ("decisive_scripts", ["Kana]"], "decisive_scripts: 'Kana]' is not a Unicode script"),
        ("direction", "left", "direction: Input should be 'ltr' or 'rtl'"),
        ("tokeniser", "spacy", "tokeniser: no tokeniser is called 'spacy'; allowed: words, janome"),
        ("key", ["nfkc", "lower"], "key: no key step is called 'lower'; allowed: nfc, nfkc"),
        ("key", ["case", "nfkc"], r"key: key steps must stand in the order .*\['nfkc', 'case'\]"),
        ("key", ["nfkc", "case", "case"], "key: key steps must stand in the order"),
        ("key", ["case"], "key: key must begin with one of nfc and nfkc"),
        ("key", ["nfkc", "ya", "persian_ya"], "key: ya and persian_ya undo each other"),
        ("codes", {"iso639_3": "english"}, "codes.iso639_3: String should match pattern"),
        ("codes", {"iso639_3": "eng", "langdetect": ["eng"]}, "codes.langdetect: langdetect has no .*'eng'"),
        ("codes", {"iso639_3": "amh", "stopwordsiso": "am"}, "codes.stopwordsiso: stopwordsiso has no"),
        ("mistaken_for", ["xx"], "mistaken_for: langdetect has no language 'xx'; allowed: af, ar"),
        ("look_alikes", [{"letters": "x"}], "look_alikes.0.of: Field required"),
        ("look_alikes", [{"scripts": ["Kana?"], "of": "y"}], "look_alikes.0.scripts: 'Kana\\?' is not"),
        ("grammar", "a-z\\d", "grammar: '\\\\\\\\' cannot stand in grammar"),
        ("grammar", "z-a", "grammar: 'z-a' is not a list of characters and ranges"),
        ("grammar", "a-z\n", "grammar: .* cannot stand in grammar"),
        ("grammar", "a--z", "grammar: '--' cannot stand in grammar"),
        ("options", {"native": ["A", "B"]}, "options.native: List should have at least 4 items"),
        ("options", {"native": ["A", "B", "C", "A"]}, "options.native: .*'A'.* stands twice"),
        ("status", "done", "status: Input should be 'draft' or 'reviewed'"),
        ("sentence_end", [], "sentence_end: List should have at least 1 item"),
    ],
)
def test_the_field_is_named(tmp_path: Path, field: str, value: Any, complaint: str) -> None:
    path = written(tmp_path, **{field: value})
    with pytest.raises(ConfigError, match=complaint) as error:
        load_spec(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("text", ["Choose one.", "One of {labels} or {labels}", "{labels} and {more}"])
def test_an_instruction_holds_the_labels_once(tmp_path: Path, text: str) -> None:
    strings = {"scenario": "S", "question": "Q", "instruction": text, "answer": "A"}
    with pytest.raises(ConfigError, match=r"strings.instruction: .*must hold \{labels\} exactly once"):
        load_spec(written(tmp_path, strings=strings))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"name: [", "not valid YAML"),
        (b"- a\n", "must hold fields"),
        (b"", "must hold fields"),
        (b"name: \xff", "line 1 is not UTF-8"),
    ],
)
def test_a_file_that_is_no_language_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "language.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=complaint):
        load_spec(path)


def test_a_missing_file_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="type: adage language new qq"):
        load_spec(tmp_path / "qq" / "language.yaml")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_spec(path).name == "English"
