from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.prompts import load_prompt

HEAD = "---\nversion: 1\norigin: ours\nvariables: [text]\n---\n"


def _prompt(folder: Path, text: str) -> Path:
    file = folder / "p.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_shipped_prompt_loads_and_says_whose_it_is(project: Path) -> None:
    files = sorted((project / "prompts").rglob("*.md"))
    assert [f.stem for f in files] == ["judge", "label", "name_clusters", "scenarios"]
    assert all(load_prompt(f).front.origin == "ours" for f in files)


def test_a_text_cannot_close_its_quotes_or_run_a_template(tmp_path: Path) -> None:
    prompt = load_prompt(_prompt(tmp_path, HEAD + "## user\nText: {{ text | quoted }}\n"))
    [message] = prompt.render(text='a" b\n{{ 7*7 }} አማርኛ')
    assert message.content == 'Text: "a\\" b\\n{{ 7*7 }} አማርኛ"'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("## user\n{{ other | quoted }}\n", r"declares \['text'\], the text uses \['other'\]"),
        ("## user\nnothing\n", "make them equal"),
        ("{{ text | quoted }}\n", "text before the first part"),
        ("## user\n{{ text | quoted }\n", "p.md"),
    ],
)
def test_a_wrong_prompt_is_refused_at_load(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_prompt(_prompt(tmp_path, HEAD + body))


def test_a_value_without_the_filter_and_a_missing_value_are_refused(tmp_path: Path) -> None:
    prompt = load_prompt(_prompt(tmp_path, HEAD + "## user\n{{ text }}\n"))
    with pytest.raises(ConfigError, match="without the filter"):
        prompt.render(text="a")
    with pytest.raises(ConfigError, match=r"missing \['text'\], unknown \['txt'\]"):
        prompt.render(txt="a")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_prompt_saved_by_a_windows_editor_loads_and_is_the_same(tmp_path: Path, line_end: str) -> None:
    text = HEAD + "## user\nText:\n{{ text | quoted }}\n"
    plain = load_prompt(_prompt(tmp_path, text))
    (tmp_path / "p.md").write_bytes(("\ufeff" + text.replace("\n", line_end)).encode())
    assert load_prompt(tmp_path / "p.md").digest == plain.digest
