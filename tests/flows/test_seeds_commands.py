"""`adage seeds`: what a person types and reads, on small tables and a server that must not be asked."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from flows.cli.help import WIDTH
from flows.cli.main import app
from tests.flows.small import make_root
from tests.flows.typed import Type
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def _adage(*words: str) -> str:
    ended = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def _add(root: Path, *rows: dict[str, str]) -> None:
    path = root / "seeds" / "en" / "proverbs.csv"
    with path.open(newline="", encoding="utf-8") as stream:
        old = list(csv.DictReader(stream))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(old[0]), restval="")
        writer.writeheader()
        writer.writerows([*old[:20], *rows])


def test_check_says_what_the_seeds_are_good_for_and_asks_nothing(
    server: ScriptedServer, tmp_path: Path
) -> None:
    root = make_root(tmp_path, server.address)
    first = next(csv.DictReader((root / "seeds" / "en" / "proverbs.csv").open(encoding="utf-8")))
    _add(
        root,
        {"proverb_id": "en-a", "text": f"{first['text']}s", "meaning": "too short"},
        {"proverb_id": "en-b", "text": "Dusk comes early in the valley", "meaning": ""},
        {"proverb_id": "en-c", "text": first["text"].upper(), "meaning": first["meaning"]},
    )
    words = ["seeds", "check", "--lang", "en", "--profile", "test", "--root", str(root)]
    found = json.loads(_adage(*words, "--json"))
    assert (found["rows"], found["usable"], found["drafts"]) == (23, 21, 21)
    assert {(r["row_id"], r["reason"]) for r in found["rejected"]} == {
        ("en-b", "no_meaning"),
        ("en-c", "duplicate"),
    }
    [variant] = found["variants"]
    assert (variant["proverb_id"], variant["of"], variant["marked"]) == ("en-a", first["proverb_id"], False)
    assert {(w["proverb_id"], w["reason"]) for w in found["weak"]} == {
        ("en-a", "very_short"),
        ("en-b", "no_meaning"),
        ("en-c", "same_meaning"),
    }
    assert (found["limited"]["proverbs"], found["limited"]["domains"]) == (12, 3)
    assert found["limited"]["calls"] == {"label": 12, "name_clusters": 6, "scenarios": 36, "judge": 108}
    # floor(0.15 x 21) = 3 proverbs in test: of three coins, none or all three fall within 95 % of the draws.
    assert found["whole"]["test_items"] == 30
    assert found["whole"]["alike"] == {"low": 0.0, "high": 1.0}
    assert found["whole_sizes"] is None
    shown = _adage(*words)
    assert "23 seed rows, 21 usable, 21 not reviewed" in shown
    assert f"if so, write variant_of {first['proverb_id']} into row en-a" in shown
    assert "1 have a meaning of fewer than 4 words" in shown
    assert re.search(r"in the test split .* 30 from 3 proverbs$", shown, re.MULTILINE)
    assert "No model was used: the embedder of this profile (ollama)" in shown
    assert all(cell_len(line) <= WIDTH for line in shown.splitlines())
    assert server.requests == []


def test_check_says_when_clustering_would_be_refused(server: ScriptedServer, tmp_path: Path) -> None:
    root = make_root(tmp_path, server.address, cluster={"memory_gib": 0.0001})
    shown = _adage("seeds", "check", "--lang", "en", "--profile", "test", "--root", str(root))
    assert "clustering all seeds would be refused: the limit is 0.1 MiB" in shown


def test_every_import_leaves_its_own_file_of_rejects(tmp_path: Path) -> None:
    root = tmp_path / "root"
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, text in zip(folders, ("Time flies,", "Haste,"), strict=True):
        folder.mkdir()
        (folder / "a.csv").write_text(f"text,meaning\n{text}\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("text,meaning\nTime flies,Hours pass\n", encoding="utf-8")

    def rejects(*files: Path) -> Path | None:
        words = ["seeds", "import", *map(str, files), "--lang", "en", "--json", "--root", str(root)]
        path = json.loads(_adage(*words))["rejected_file"]
        return path and Path(path)

    first, second = rejects(folders[0] / "a.csv"), rejects(folders[1] / "a.csv")
    assert first is not None
    assert second is not None
    assert (first.name, second.name) == ("a.rejected.csv", "a.2.rejected.csv")
    assert "Time flies" in first.read_text(encoding="utf-8")
    assert "Haste" in second.read_text(encoding="utf-8")
    both = rejects(folders[0] / "a.csv", tmp_path / "b.csv")
    assert both is not None
    assert both.name == "a+b.rejected.csv"
    # The same import again leaves the same file, and one that took every row none.
    assert rejects(folders[0] / "a.csv") == first
    (tmp_path / "b.csv").write_text("text,meaning\nStill waters run deep,Say little\n", encoding="utf-8")
    assert rejects(tmp_path / "b.csv") is None


def test_an_import_says_which_reviewed_rows_are_drafts_again(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    words = ["seeds", "import", str(table), "--lang", "en", "--root", str(tmp_path)]
    table.write_text("text,meaning\nTime flies,Hours pass\n", encoding="utf-8")
    _adage(*words)
    proverbs = tmp_path / "seeds" / "en" / "proverbs.csv"
    proverbs.write_text(
        proverbs.read_text(encoding="utf-8").replace(",draft,", ",reviewed,"), encoding="utf-8"
    )
    table.write_text("text,meaning\nTime flies,Insects\n", encoding="utf-8")
    shown = " ".join(_adage(*words).split())
    assert "reviewed before, a draft again because a meaning came to it: Time flies [a.csv row 2" in shown
    assert ",draft," in proverbs.read_text(encoding="utf-8")


def test_arabic_is_set_apart_and_every_line_fits(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    texts = ["الشجرة الطويلة تهزها الريح", "الشجرة الطويله تهزها الرياح", "من زرع حصد", "البيت بيتك"]
    lines = ["text,meaning", *(f"{text},{'معنى ' * 30}{i}" for i, text in enumerate(texts))]
    table.write_text("\n".join([*lines, lines[3] + " آخر"]), encoding="utf-8")
    shown = _adage("seeds", "import", str(table), "--lang", "ar", "--root", str(tmp_path))
    assert "two meanings kept for \u2068من زرع حصد\u2069: a.csv row 4 and a.csv row 6" in shown
    assert "probable variant, shares its split: \u2068" in shown
    counted = [line for line in shown.splitlines() if str(tmp_path) not in line]
    assert all(cell_len(line) <= WIDTH for line in counted)


def test_a_cell_with_pages_of_text_does_not_fill_the_screen(tmp_path: Path) -> None:
    root = make_root(tmp_path, "http://127.0.0.1:9")
    page = "long words " * 900
    _add(root, {"proverb_id": "en-a", "text": page, "meaning": "too short"})
    (tmp_path / "more.csv").write_text(f"text,meaning\n{page},a new meaning\n", encoding="utf-8")
    words = ["--lang", "en", "--root", str(root)]
    told = _adage("seeds", "check", "--profile", "test", *words)
    told += _adage("seeds", "import", str(tmp_path / "more.csv"), *words)
    assert told.count("en-a long words") == told.count("two meanings kept for long words") == 1
    assert len(told) < 5000


def test_a_field_mapped_to_two_columns_is_refused(tmp_path: Path, adage: Type) -> None:
    root = make_root(tmp_path, "http://127.0.0.1:9")
    (tmp_path / "a.csv").write_text("Proverb,Sense,Use\na,b,c\n", encoding="utf-8")
    maps = [word for column in ("Sense", "Use") for word in ("--map", f"meaning={column}")]
    ended = adage("seeds", "import", tmp_path / "a.csv", "--lang", "en", "--root", root, *maps)
    assert ended.code != 0
    assert "--map meaning: given twice, for 'Sense' and 'Use'" in " ".join(ended.err.split())
