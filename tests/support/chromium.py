"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
READY = "(({errors, ready}) => !errors || ready === 'true')(document.documentElement.dataset)"
INSTALL = "no Chromium was found: apt-get install chromium (Debian), or name one in CHROMIUM."


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser: $CHROMIUM, or one on PATH. Playwright downloads none."""
    named = (os.environ.get("CHROMIUM", ""), *PROGRAMS)
    program = next(filter(None, map(shutil.which, named)), None)
    if program is None:
        raise FileNotFoundError(INSTALL)
    with sync_playwright() as playwright:
        # as root, as in CI, Chromium has no sandbox
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_report(page: Page, file: Path, width_px: int = 1200, height_px: int = 900) -> None:
    """Loads a report and waits until its filters and buttons work; any other page has none."""
    page.set_viewport_size({"width": width_px, "height": height_px})
    page.goto(file.resolve().as_uri())
    page.wait_for_function(READY)


def draw_inside(page: Page) -> None:
    """Scrolls to the charts inside a trial, which are drawn only then, waits for them, and scrolls back."""
    page.evaluate("document.getElementById('inside').scrollIntoView()")
    page.wait_for_function("document.getElementById('inside-charts').dataset.state === 'drawn'")
    page.evaluate("scrollTo(0, 0)")
