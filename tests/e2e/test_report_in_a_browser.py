"""The report as people open it: Arabic and Amharic, desktop and phone, light and dark, printed, unscripted.

With ADAGE_SCREENSHOTS=FOLDER the screenshots are kept there for somebody to look at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.flows.small import build, make_root
from tests.report.hostile import write_hostile_seeds
from tests.servers.chromium import DESKTOP, PHONE, chromium, opened
from tests.servers.readable import readable
from tests.servers.scripted import ScriptedServer

pytestmark = pytest.mark.browser

# Axe looks at every element's colours: seconds a page. Each language is seen at both widths, in both schemes.
CHECKED = {
    ("ar", DESKTOP, "light"),
    ("ar", PHONE, "dark"),
    ("am", DESKTOP, "dark"),
    ("am", PHONE, "light"),
}


@pytest.fixture(scope="module")
def reports(project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Language -> the report of a build whose scenarios are real sentences of the language."""
    made = {}
    for lang in ("ar", "am"):
        with ScriptedServer(responders=[readable(project / "seeds" / lang / "proverbs.csv")]) as server:
            root = make_root(
                tmp_path_factory.mktemp(lang),
                server.address,
                lang=lang,
                acquire={"limit": 24},
                scenarios={"domains": 2},
            )
            made[lang] = build(root, lang=lang)[2].report
    return made


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ScriptedServer() as server:
        root = make_root(tmp_path_factory.mktemp("hostile"), server.address, acquire={"limit": None})
        write_hostile_seeds(root / "seeds" / "en" / "proverbs.csv")
        return build(root)[2].report


@pytest.fixture(scope="module")
def browser(reports: dict[str, Path], hostile: Path) -> Iterator[Browser]:
    # After the builds: Playwright keeps an event loop running in this thread, builds start their own.
    with chromium() as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("lang", ["ar", "am"])
def test_the_page_fits_and_is_accessible(
    browser: Browser, reports: dict[str, Path], tmp_path: Path, lang: str, width: int, scheme: str
) -> None:
    with opened(browser, reports[lang], width, color_scheme=scheme) as (page, complaints):
        assert page.locator(".item").count() == 30
        assert page.evaluate("document.documentElement.scrollWidth") == width
        if (lang, width, scheme) in CHECKED:
            assert _serious(page) == []
        folder = Path(os.environ.get("ADAGE_SCREENSHOTS", tmp_path))
        folder.mkdir(parents=True, exist_ok=True)
        shot = page.screenshot(path=folder / f"{lang}-{width}-{scheme}.png", full_page=True)
        assert shot.startswith(b"\x89PNG")
    assert complaints == []


def test_arabic_runs_from_right_to_left_and_amharic_from_left_to_right(
    browser: Browser, reports: dict[str, Path]
) -> None:
    for lang, letter_first in (("ar", "right"), ("am", "left")):
        with opened(browser, reports[lang], DESKTOP) as (page, _):
            scenario = page.locator(".scenario").first
            assert scenario.get_attribute("lang") == lang
            direction = scenario.evaluate("e => getComputedStyle(e).direction")
            assert direction == {"ar": "rtl", "am": "ltr"}[lang]
            letter, text = (
                page.locator(f".option {part}").first.bounding_box() for part in (".letter", ".text")
            )
            assert letter
            assert text
            assert ("right" if letter["x"] > text["x"] else "left") == letter_first


_SPILLING = """() => [...document.querySelectorAll('.option, .item, td, th, dd')].filter(box => {
  const room = box.getBoundingClientRect();
  return [...box.querySelectorAll('*')].some(part => {
    const own = part.getBoundingClientRect();
    const inside = own.bottom < room.bottom + 2 && own.left > room.left - 2 && own.right < room.right + 2;
    return own.width && !inside;
  });
}).map(box => box.className + ': ' + box.textContent.trim().slice(0, 60))"""


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_nothing_spills_out_of_its_box(browser: Browser, reports: dict[str, Path], width: int) -> None:
    for report in reports.values():
        with opened(browser, report, width) as (page, _):
            assert page.evaluate(_SPILLING) == []


def test_the_reasons_for_a_missing_number_have_room_on_a_phone(
    browser: Browser, reports: dict[str, Path]
) -> None:
    with opened(browser, reports["am"], PHONE) as (page, _):
        widths = page.locator(".reasons").evaluate_all("cells => cells.map(cell => cell.clientWidth)")
        assert len(widths) == 3
        assert min(widths) > PHONE / 2


def test_items_are_narrowed_down_and_print_shows_all(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["ar"], DESKTOP) as (page, complaints):
        items, options = page.locator(".item:visible"), page.locator(".option:visible")
        assert (items.count(), options.count()) == (30, 120)
        page.get_by_role("combobox", name="Options").select_option("near_match")
        assert (items.count(), options.count()) == (30, 60)
        page.get_by_role("combobox", name="Cluster").select_option("0")
        shown = items.count()
        assert 0 < shown < 30
        assert page.locator("#shown").inner_text() == f"{shown} of 30 shown"
        assert set(items.evaluate_all("all => all.map(e => e.dataset.cluster)")) == {"0"}
        page.emulate_media(media="print")
        assert (items.count(), options.count()) == (30, 120)
    assert complaints == []


def test_without_script_everything_is_there(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["am"], PHONE, java_script_enabled=False) as (page, _):
        assert page.locator(".item:visible").count() == 30
        assert page.locator(".option:visible").count() == 120
        assert not page.locator("#filters").is_visible()


def test_hostile_seeds_stay_text_in_a_browser(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, PHONE) as (page, complaints):
        assert page.title() == "CAPR English, profile test: build report"
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE
        text = page.locator("body").inner_text()
        assert "<script>document.title = 'taken'</script>" in text
        assert "{{7*7}}" in text
        assert "[U+202E]overridden" in text
        assert _serious(page) == []
    assert complaints == []


def _serious(page: Page) -> list[str]:
    """Axe's serious and critical findings, one line each."""
    found = Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['target']}" for v in found if v["impact"] in ("serious", "critical")]
