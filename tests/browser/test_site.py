"""The documentation site: its version, its search, its width on a phone, the sample report within."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import pytest
from playwright.sync_api import Page

from docs.generator.recording import COMMANDS
from tests.browser.documents import build_site

PHONE = {"width": 390, "height": 844}
WIDE = ("index.html", "install.html", "workloads.html", "how-to/measure-your-cluster.html",
        "tutorials/vms.html", "reference/study-file.html", "reference/validity-rules.html")  # fmt: skip
"""Pages with the widest tables and commands, among them."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address. Search needs a server."""
    folder = build_site(tmp_path_factory.mktemp("site")).parent
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_names_the_version_and_loads_nothing_from_elsewhere(
    site: str, page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in WIDE:
        page.goto(f"{site}/{name}")
        assert version("density-study") in page.locator("footer").inner_text()
    assert asked and [url for url in asked if not url.startswith((site, "data:"))] == []


def test_search_finds_pages_for_users_and_no_decision(site: str, page: Page) -> None:
    page.goto(f"{site}/index.html")
    page.get_by_role("link", name="Search").click()
    page.fill("#properdocs-search-query", "lease")
    results = page.locator("#properdocs-search-results article a")
    for _ in range(60):  # the index is loaded meanwhile; a key that comes before it is lost
        page.locator("#properdocs-search-query").press("End")
        page.wait_for_timeout(500)
        if results.count():
            break
    found = results.evaluate_all("all => all.map(one => one.href)")
    assert any("/providers.html" in one for one in found)
    assert not [one for one in found if "/decisions/0" in one]


@pytest.mark.parametrize("name", WIDE)
def test_a_phone_shows_a_page_without_scrolling_sideways(site: str, page: Page, name: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{site}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_sample_report_is_a_page_of_the_site(site: str, page: Page) -> None:
    page.goto(f"{site}/index.html")
    page.get_by_role("link", name="a sample").click()
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    assert "0.17" in page.locator("main").inner_text()


def test_the_recording_plays_the_commands_of_the_first_report(site: str, page: Page) -> None:
    page.goto(f"{site}/index.html")
    page.get_by_role("link", name="a recording").click()
    screen = page.locator("#screen")
    whole = screen.inner_text()
    assert [line[2:] for line in whole.splitlines() if line.startswith("$ ")] == [*COMMANDS]
    page.get_by_role("button", name="Play").click()
    begin = screen.inner_text()
    assert whole.startswith(begin) and len(begin) < len(whole) / 2
    page.wait_for_function(f"document.getElementById('screen').textContent.length > {len(begin)}")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Position in the recording").press("End")
    assert screen.inner_text() == whole
