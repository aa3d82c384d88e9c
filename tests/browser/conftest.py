"""One browser for the tests of a package, a page for each test, and the reports they open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from density_study.analysis.report.page import write
from tests.support.chromium import chromium
from tests.support.report_pages import html
from tests.support.summary_factory import FACTORIES
from tests.support.summary_states import all_invalid, empty

STATES = {"empty": empty, "all invalid": all_invalid}


@pytest.fixture(scope="package")  # closed before other tests measure
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_page() as opened:
        yield opened


@pytest.fixture
def complaints(page: Page) -> list[str]:
    return heard(page)


def heard(page: Page) -> list[str]:
    """Console errors and warnings, uncaught exceptions and failed requests of the page from now on, in
    order."""
    messages: list[str] = []

    def hear(kind: str, text: str) -> None:
        if kind in ("error", "warning", "assert"):
            messages.append(f"{kind}: {text}")

    page.on("console", lambda message: hear(message.type, message.text))
    page.on("pageerror", lambda error: hear("error", str(error)))
    page.on("requestfailed", lambda request: hear("error", f"{request.url} {request.failure}"))
    return messages


class Reports(dict[str, Path]):
    """Each is written when a test opens it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self.folder / f"{name}.html"
        if name in FACTORIES:  # tests of its text have rendered it
            self[name].write_text(html(name), encoding="utf-8")
        else:
            write(STATES[name](), self[name])
        return self[name]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    return Reports(tmp_path_factory.mktemp("reports"))
