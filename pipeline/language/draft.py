"""A new language file from a person's answers: everything else is what is usual in the script."""

from __future__ import annotations

from pathlib import Path

import stopwordsiso
import yaml

from pipeline.language.scripts import grammar_for, habits_of
from pipeline.language.spec import check_scripts, langdetect_codes, parse_spec
from pipeline.language.tokenisers import TOKENISERS
from pipeline.params import Params


class Answers(Params):
    """What only a person knows. ``letters`` are those beyond A to Z, or the alphabet of another script;
    ``own_letters`` those that its neighbours do not write; ``alone`` says that the script is its own."""

    code: str
    name: str
    native_name: str
    iso639_3: str
    scripts: list[str]
    alone: bool = False
    letters: str = ""
    own_letters: str = ""
    tokeniser: str | None = None
    labels: list[str]
    scenario: str
    question: str
    instruction: str
    between: str = ", "
    answer: str


HARMLESS = Answers(
    code="qaa",
    name="Name",
    native_name="Name",
    iso639_3="qaa",
    scripts=["Latin"],
    labels=["A", "B", "C", "D"],
    scenario="Scenario",
    question="Question",
    instruction="{labels}",
    answer="Answer",
)
"""Stands for answers that are not given yet, so that each can be checked when it is."""

COMMENTS = {
    "codes": "langdetect, stopwordsiso: the names those libraries have for the language, where they know it.",
    "decisive_scripts": "Scripts that are this language's alone: a text in them is accepted by that.",
    "own_letters": "Letters that no neighbour in the same script writes.",
    "mistaken_for": "Languages that langdetect takes this one for; adage language check lists them.",
    "tokeniser": f"One of: {', '.join(TOKENISERS)}.",
    "key": "Spellings that count as one when texts are compared; stored texts are never changed.",
    "stopwords": "Words that carry no content, such as 'the' and 'of'; twenty to fifty are enough.",
    "grammar": "The characters that a small model may write: single ones, ranges a-z, - at the end.",
    "options": "Labels of the four options, as schools write them.",
    "strings": "What a model under evaluation reads.",
    "status": "draft until a native speaker has read all of this file, then: reviewed.",
}
"""Field -> the comment above it in a new file."""

_ON_ONE_LINE = (
    "codes",
    "scripts",
    "decisive_scripts",
    "mistaken_for",
    "key",
    "stopwords",
    "sentence_end",
    "options",
)


def draft_file(answers: Answers, path: Path) -> str:
    """The text of a new language file, checked; ConfigError names ``path`` and the field."""
    # What is usual is looked up by script.
    check_scripts(answers.scripts, path)
    data = _data(answers)
    parse_spec(data, path)
    lines: list[str] = []
    for name, value in data.items():
        comment = f"# {COMMENTS[name]}\n" if name in COMMENTS else ""
        lines.append(comment + _field(name, value))
    return "".join(lines)


def _field(name: str, value: object) -> str:
    on_one_line = None if name in _ON_ONE_LINE else False
    return yaml.safe_dump(
        {name: value}, allow_unicode=True, sort_keys=False, default_flow_style=on_one_line, width=10_000
    )


def _data(answers: Answers) -> dict[str, object]:
    habits = habits_of(answers.scripts)
    codes: dict[str, object] = {"iso639_3": answers.iso639_3}
    if len(answers.code) == 2:
        codes = {"iso639_1": answers.code, **codes}
    if answers.code in langdetect_codes():
        codes["langdetect"] = [answers.code]
    if stopwordsiso.has_lang(answers.code):
        codes["stopwordsiso"] = answers.code
    words = "words" if habits.word_spaces else "characters"
    tokeniser = answers.tokeniser or words
    return {
        "name": answers.name,
        "native_name": answers.native_name,
        "codes": codes,
        "scripts": answers.scripts,
        "decisive_scripts": answers.scripts if answers.alone else [],
        "own_letters": _both_cases(answers.own_letters),
        "mistaken_for": [],
        "direction": habits.direction,
        "tokeniser": tokeniser,
        "word_unit": "characters" if tokeniser == "characters" else "words",
        "word_spaces": habits.word_spaces,
        "key": list(habits.key),
        "stopwords": [],
        "sentence_end": list(habits.sentence_end),
        "grammar": grammar_for(answers.scripts, answers.letters),
        "options": {"native": answers.labels},
        "strings": {
            "scenario": answers.scenario,
            "question": answers.question,
            "instruction": answers.instruction,
            "between": answers.between,
            "answer": answers.answer,
        },
        "status": "draft",
        "notes": ["Made by adage language new; not reviewed yet."],
    }


def _both_cases(letters: str) -> str:
    capitals = (letter.upper() for letter in letters)
    return "".join(dict.fromkeys([*letters, *(letter for letter in capitals if len(letter) == 1)]))
