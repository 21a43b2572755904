"""Debian's Chromium, headless, for tests marked `browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.servers.needed import unavailable

_NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = 1280, 380
"""Widths in CSS pixels."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of the machine's own; none is downloaded."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        unavailable("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        # A sandbox needs a user of its own, which root in a container is not.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, file: Path, width: int, **context: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page of so many pixels with this file, and whatever the page complains of."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **context)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.goto(file.as_uri())
    yield page, complaints
    page.close()
