"""A prompt file that does not give its stage what it reads is refused before any call."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.capr.graph import PROMPTS
from pipeline.capr.prompt_check import checked_prompt
from pipeline.errors import ConfigError
from tests.capr.kit import PROJECT

SHIPPED = PROJECT / "prompts" / "capr"
SCORE = "{type: integer, enum: [1, 2, 3, 4, 5]}"


@pytest.mark.parametrize("stage", PROMPTS)
def test_the_shipped_ones_are_taken(stage: str) -> None:
    checked_prompt(stage, SHIPPED / f"{stage}.md")


@pytest.mark.parametrize(
    ("stage", "old", "new", "said"),
    [
        ("judge", "option.meaning |", "option.meanings |", "no attribute 'meanings'"),
        ("judge", "{{ stance | quoted }}", "{{ stance / 0 }}", "cannot be filled in: "),
        ("judge", "option.meaning |", "option.items |", "cannot be filled in: "),
        ("label", "meaning]", "meaning, hint]", r"front matter declares \['hint', "),
        ("label", "meaning | quoted", "meaning | quote", "No filter named 'quote'"),
        ("label", "theme", "topic", "stage label reads theme in every reply"),
        ("label", "required: [theme]", "required: []", "stage label reads theme in every reply"),
        ("label", "theme: {type: string,", "theme: {", "theme takes null"),
        ("label", "  type: object\n", "", "stage label reads theme in every reply"),
        ("label", "theme: {type: string,", "theme: {$ref: '#/$defs/x',", "refers to '#/.defs/x'"),
        ("name_clusters", "name:", "title:", "stage name_clusters reads name in every reply"),
        ("scenarios", "required: [scenario]", "required: [text]", "stage scenarios reads scenario in every"),
        ("judge", "distractors, fits]", "distractors]", "stage judge reads fits in every reply"),
        (
            "judge",
            "minItems: 4\n      maxItems: 4",
            "minItems: 3\n      maxItems: 3",
            r"fits refuses \[1, 1, 1, 1\]",
        ),
        ("judge", "      minItems: 4\n", "", r"fits takes \[\]"),
        ("judge", SCORE, "{type: number, enum: [1, 1.5, 2, 3, 4, 5]}", "faithfulness takes 1.5, stage judge"),
        ("judge", SCORE, "{type: number, minimum: 1, maximum: 5}", "faithfulness takes 1.5"),
        ("judge", SCORE, "{type: integer, minimum: 1, maximum: 7}", "faithfulness takes 6"),
        ("judge", SCORE, "{type: integer, minimum: 0, maximum: 4}", "faithfulness refuses 5"),
        ("judge", SCORE, "{enum: [1, 2, 3, 4, 5, null]}", "faithfulness takes null"),
        ("judge", f"items: {SCORE}", "items: {type: number, minimum: 1, maximum: 5}", "fits takes .*1.5"),
    ],
)
def test_what_a_stage_cannot_use_is_named(tmp_path: Path, stage: str, old: str, new: str, said: str) -> None:
    text = (SHIPPED / f"{stage}.md").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / f"{stage}.md"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=said) as caught:
        checked_prompt(stage, file)
    assert str(caught.value).startswith(str(file))


def test_a_prompt_without_a_schema_is_refused(tmp_path: Path) -> None:
    text = (SHIPPED / "label.md").read_text(encoding="utf-8")
    schema, end = text.index("schema:"), text.index("\n---\n", 4) + 1
    file = tmp_path / "label.md"
    file.write_text(text[:schema] + text[end:], encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"stage label reads theme .* type: object, theme: \{type: string\} u"
    ):
        checked_prompt("label", file)


def test_scores_may_be_written_in_other_ways(tmp_path: Path) -> None:
    text = (SHIPPED / "judge.md").read_text(encoding="utf-8")
    file = tmp_path / "judge.md"
    text = text.replace("schema:\n", "schema:\n  $defs: {score: {type: integer, minimum: 1, maximum: 5}}\n")
    file.write_text(text.replace(SCORE, "{$ref: '#/$defs/score'}"), encoding="utf-8")
    checked_prompt("judge", file)
