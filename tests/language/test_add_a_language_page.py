"""docs/add-a-language.md, followed to the letter for a language that does not ship."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from pipeline.language.keys import STEPS
from pipeline.language.language import load_language
from pipeline.language.spec import Codes, LanguageSpec, LookAlikes, Options, Strings
from pipeline.language.tokenisers import TOKENISERS
from pipeline.seeds.table import read_seeds
from tests.docs.page import PROJECT, blocks, commands
from tests.language.shipped import CODES

PAGE = "docs/add-a-language.md"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder the page's reader stands in, with the two files they made."""
    (tmp_path / "pyproject.toml").write_text("[tool.adage]\n", encoding="utf-8")
    (tmp_path / "refranes.csv").write_text(blocks(PAGE, "csv")[0], encoding="utf-8")
    (tmp_path / "frases.txt").write_text(blocks(PAGE, "text")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_adds_a_language_that_does_not_ship(root: Path) -> None:
    assert "es" not in CODES
    typed = {tuple(command[1:3]): command[1:] for command in commands(PAGE)}
    outputs = {}
    for step in (("language", "new"), ("language", "check"), ("seeds", "import")):
        result = CliRunner().invoke(app, typed[step])
        assert result.exit_code == 0, result.output
        outputs[step] = result.output

    shown = outputs["language", "check"]
    assert "words (9): ¿" not in shown
    assert "words (9): Has | visto | las | llaves | del | coche | No | las | encuentro" in shown
    assert "judged: yes (identified as es)" in shown
    assert "grammar lacks" not in shown
    page = (root / "artifacts/language/es.html").read_text(encoding="utf-8")
    assert (
        '<p class="text" dir="ltr" lang="es">El tren de las 8.30 llegó con 20 minutos de retraso.</p>' in page
    )

    language = load_language(root / "seeds/es/language.yaml")
    assert (language.code, language.name, language.spec.codes.iso639_3) == ("es", "Spanish", "spa")
    assert language.strings.instruction_for(["A", "B"]) == (
        "Elija exactamente una opción entre A, B y responda solo con esa letra."
    )
    rows = read_seeds(root / "seeds/es/proverbs.csv", "es")
    assert len(rows) == 12
    assert rows[1]["text"] == "A quien madruga, Dios le ayuda."
    assert rows[1]["meaning"] == "Quien empieza pronto y se esfuerza obtiene mejores resultados."


def test_the_page_goes_on_to_a_build() -> None:
    assert [command[1:] for command in commands(PAGE)[-2:]] == [
        ["build", "capr", "--lang", "es", "--profile", "demo"],
        ["show", "capr", "--lang", "es"],
    ]


def test_the_page_explains_every_field_step_and_tokeniser() -> None:
    text = (PROJECT / PAGE).read_text(encoding="utf-8")
    models = (LanguageSpec, Codes, Options, Strings)
    fields = {name for model in models for name in model.model_fields}
    names = fields | set(STEPS) | set(TOKENISERS) | {"keyboard"}
    assert set(LookAlikes.model_fields) == {"letters", "scripts", "of", "keyboard"}
    assert sorted(name for name in names if f"`{name}" not in text) == []


def test_the_steps_stand_in_the_order_a_file_needs() -> None:
    text = (PROJECT / PAGE).read_text(encoding="utf-8")
    listed = [name for name in STEPS if name not in ("nfc", "nfkc")]
    places = [text.index(f"| `{name}` |") for name in listed]
    assert places == sorted(places)
