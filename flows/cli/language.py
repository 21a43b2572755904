"""`adage language`: write a new language's file, and show a native speaker what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.help import Group, examples
from flows.cli.options import JsonOption, LangArgument, RootOption, open_root
from flows.cli.output import print_json, say
from pipeline.errors import ConfigError
from pipeline.handwritten import read_text
from pipeline.store.files import write_text
from pipeline.store.root import Root, checked_name

if TYPE_CHECKING:
    from pipeline.language.check import Checked
    from pipeline.language.draft import Answers
    from pipeline.language.language import Language

app = typer.Typer(
    cls=Group,
    help="Add and check languages.",
    epilog=examples("adage language new ha", "adage language check ja"),
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    """Add and check languages."""


@app.command(
    epilog=examples(
        "adage language new ha",
        "adage language new ha --name Hausa --native-name Hausa --iso639-3 hau --scripts Latin",
    )
)
def new(
    code: Annotated[str, typer.Argument(help="ISO 639 code: the name of the new folder of seeds/.")],
    name: Annotated[str | None, typer.Option(help="The language's name in English.")] = None,
    native_name: Annotated[str | None, typer.Option(help="Its name in the language itself.")] = None,
    iso639_3: Annotated[str | None, typer.Option("--iso639-3", help="Its three-letter code.")] = None,
    scripts: Annotated[str | None, typer.Option(help="Unicode scripts, such as Latin or Arabic.")] = None,
    alone: Annotated[
        bool | None, typer.Option("--alone/--shared", help="Is the script this language's alone?")
    ] = None,
    letters: Annotated[
        str | None, typer.Option(help="Letters and marks beyond a-z, or the whole alphabet.")
    ] = None,
    own_letters: Annotated[str | None, typer.Option(help="Letters that no neighbour writes.")] = None,
    tokeniser: Annotated[str | None, typer.Option(help="How words are found, when not as usual.")] = None,
    labels: Annotated[str | None, typer.Option(help="Labels of four options: A,B,C,D")] = None,
    scenario: Annotated[str | None, typer.Option(help="The word for 'scenario'.")] = None,
    question: Annotated[str | None, typer.Option(help="'Which proverb best fits this scenario?'")] = None,
    instruction: Annotated[
        str | None, typer.Option(help="'Choose exactly one of {labels} and answer with that letter only.'")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="The word for 'answer'.")] = None,
    root: RootOption = None,
) -> None:
    """Write seeds/CODE/language.yaml; what no option says is asked."""
    from pipeline.language.draft import HARMLESS, draft_file

    path = open_root(root).path / "seeds" / checked_name(code, "code") / "language.yaml"
    if path.exists():
        raise ConfigError(f"{path} is there already: edit it, or look at it with adage language check {code}")
    options = {
        "name": name,
        "native_name": native_name,
        "iso639_3": iso639_3,
        "scripts": scripts,
        "alone": alone,
        "letters": letters,
        "own_letters": own_letters,
        "tokeniser": tokeniser,
        "labels": labels,
        "scenario": scenario,
        "question": question,
        "instruction": instruction,
        "answer": answer,
    }
    given = {field: _read(field, value) for field, value in options.items() if value is not None}
    answers = HARMLESS.model_copy(update={"code": code, **given})
    # What options say is checked before the first question, and each answer when it is given.
    draft_file(answers, path)
    for field, question_, default in _QUESTIONS:
        if field not in given:
            answers = _asked(answers, field, question_, default, path)
    write_text(path, draft_file(answers, path))
    say(f"{path} is written. Put twenty sentences into a file, one a line, and type:")
    say(f"  adage language check {code} --sentences FILE")


@app.command(
    epilog=examples(
        "adage language check ja",
        "adage language check ja --sentences my-sentences.txt --html page.html",
        "adage language check ja --limit 100 --json",
    )
)
def check(
    code: LangArgument,
    sentences: Annotated[
        Path | None, typer.Option(help="Text file, one a line; else the proverbs.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many to look at.")] = 20,
    html: Annotated[
        Path | None, typer.Option(help="Where the page goes.", show_default="artifacts/language/CODE.html")
    ] = None,
    glotlid: Annotated[
        Path | None, typer.Option(help="Identify with this GlotLID model file.", show_default="langdetect")
    ] = None,
    as_json: JsonOption = False,
    root: RootOption = None,
) -> None:
    """Show how sentences are split into words, keyed, counted and judged, here and as a page to print."""
    from pipeline.language.check import check_texts, page
    from pipeline.language.identifiers import GlotlidIdentifier
    from pipeline.language.language import load_language

    place = open_root(root)
    identifier = GlotlidIdentifier(glotlid) if glotlid else None
    language = load_language(place.language(place.check_language(code)), identifier)
    checked = check_texts(language, _texts(place, code, sentences)[:limit])
    target = html or place.artifacts / "language" / f"{code}.html"
    write_text(target, page(language, checked))
    if as_json:
        print_json({"texts": [_record(row) for row in checked], "page": str(target)})
        return
    _print(language, checked)
    say(f"The same as a page: {target}")


def _texts(place: Root, code: str, sentences: Path | None) -> list[str]:
    if sentences is None:
        from pipeline.seeds.table import read_seeds

        texts = [row["text"] for row in read_seeds(place.seeds(code), code)]
    else:
        texts = read_text(sentences).splitlines()
    texts = [text.strip() for text in texts if text.strip()]
    if not texts:
        raise ConfigError(f"nothing to check: {sentences or place.seeds(code)} holds no text")
    return texts


def _print(language: Language, checked: list[Checked]) -> None:
    from pipeline.language.check import advice

    say(f"{language.name} ({language.native_name}), {language.spec.status}")
    for number, row in enumerate(checked, 1):
        verdict = row.facts.verdict
        say(f"\n{number}. {row.facts.text}")
        say(f"   words ({row.facts.word_count}): {' | '.join(row.facts.words)}")
        say(f"   content words: {' | '.join(row.content)}")
        say(f"   compared as: {row.facts.key}")
        say(f"   judged: {verdict.verdict} ({verdict.reason})")
    say()
    for line in advice(language, checked):
        say(f"- {line}")


def _record(row: Checked) -> dict[str, object]:
    verdict = row.facts.verdict
    return {
        "text": row.facts.text,
        "words": list(row.facts.words),
        "content": list(row.content),
        "key": row.facts.key,
        "sentences": list(row.sentences),
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "script_share": verdict.script_share,
    }


_QUESTIONS: list[tuple[str, str, str | bool | None]] = [
    ("name", "The language's name in English", None),
    ("native_name", "Its name in the language itself", None),
    ("iso639_3", "Its three-letter code (ISO 639-3)", None),
    ("scripts", "Its script or scripts, as Unicode calls them", "Latin"),
    ("alone", "Is no other language written in them?", False),
    ("letters", "Letters and marks beyond a-z, or the whole alphabet (blank: all of the script)", " "),
    ("own_letters", "Letters among them that no neighbour writes", " "),
    ("labels", "Labels of four options", "A,B,C,D"),
    ("scenario", "In the language: Scenario", None),
    ("question", "In the language: Which proverb best fits this scenario?", None),
    (
        "instruction",
        "In the language: Choose exactly one of {labels} and answer with that letter only.",
        None,
    ),
    ("answer", "In the language: Answer", None),
]
"""(Field, question, default) in the order they are asked; a default that is a bool wants yes or no."""


def _asked(answers: Answers, field: str, question: str, default: str | bool | None, path: Path) -> Answers:
    """The answers with one more, asked for until a language file can be written with it."""
    from pipeline.language.draft import draft_file

    while True:
        value: str | bool
        if isinstance(default, bool):
            value = typer.confirm(question, default)
        else:
            value = typer.prompt(question, default)
        changed = answers.model_copy(update={field: _read(field, value)})
        try:
            draft_file(changed, path)
        except ConfigError as error:
            say(str(error).removeprefix(f"{path}: "))
        else:
            return changed


def _read(field: str, value: str | bool) -> object:
    """What was typed for a field of the answers, as the field wants it."""
    if isinstance(value, bool):
        return value
    if field in ("scripts", "labels"):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value.replace(" ", "") if field == "own_letters" else value.strip()
