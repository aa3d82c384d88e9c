"""Debian's Chromium, driven by Playwright.

`python -m tests.support.chromium PAGE.html OUT.png` takes the README's picture of a report.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
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
    """Loads a report and waits until its charts are drawn."""
    page.set_viewport_size({"width": width_px, "height": height_px})
    page.goto(file.resolve().as_uri())
    page.wait_for_function("document.documentElement.dataset.charts === 'drawn'")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.chromium")
    parser.add_argument("page", type=Path, help="a report's index.html")
    parser.add_argument("picture", type=Path, help="OUT.png")
    parser.add_argument("--full", action="store_true", help="the whole page, not only its top")
    parser.add_argument("--dark", action="store_true", help="as in a dark colour scheme")
    arguments = parser.parse_args()
    with chromium() as browser:
        page = browser.new_page(color_scheme="dark" if arguments.dark else "light")
        open_report(page, arguments.page, height_px=1050)
        page.screenshot(path=arguments.picture, full_page=arguments.full)


if __name__ == "__main__":
    main()
