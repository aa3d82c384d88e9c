"""The results hub and the comparison of two runs in headless Chromium: keys, colours, a screen reader."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from density_study.analysis.comparison.compare import compare
from density_study.analysis.hub.files import HUB
from density_study.analysis.hub.page import rebuild
from density_study.analysis.hub.side_by_side import Pair, write
from density_study.cluster.state.run_tags import tag_run
from tests.browser.reading import choose
from tests.support.made_runs.nightly_runs import nightly, run_id, whole
from tests.support.summary_factory import eight_repetitions

pytestmark = pytest.mark.browser

CHANGED = 9
RUNS = 14


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies: 14 runs with a change point, and a run that was not analysed."""
    folder = tmp_path_factory.mktemp("hub")
    for number in range(1, RUNS + 1):
        summary = nightly(number, ops_s=100.0 if number < CHANGED else 80.0)
        root = whole(folder, summary, "failed" if number == 3 else "ok")
        tag_run(root, {"ticket": f"PERF-{number % 2}"})
    root = whole(folder, nightly(1, study="upgrade"))
    (root / "report" / "summary.json").unlink()
    rebuild(folder)
    return folder


def shown(page: Page) -> list[str]:
    """The runs whose rows are visible, in the order of the page."""
    rows = page.locator("tr[data-run]:visible th")
    return [text.strip() for text in rows.all_inner_texts()]


def filtered(page: Page, runs: int) -> None:
    """Waits for it. "Show all" resets the count a moment before the rows."""
    expect(page.locator("#filter-count")).to_have_text(f"{runs} of {RUNS + 1} runs")
    expect(page.locator("tr[data-run]:visible")).to_have_count(runs)


def opened(page: Page, path: Path, width_px: int = 1200) -> None:
    page.set_viewport_size({"width": width_px, "height": 900})
    page.goto(path.as_uri())


def test_the_page_has_no_complaints_and_leads_to_each_report(
    page: Page, complaints: list[str], runs: Path
) -> None:
    opened(page, runs / HUB)
    assert shown(page) == [run_id(number) for number in range(RUNS, 0, -1)] + [run_id(1)]
    page.get_by_role("link", name=run_id(5)).click()
    assert page.url == (runs / "nightly" / run_id(5) / "report" / "index.html").as_uri()
    assert page.inner_text("body") == "the report"
    assert complaints == []


def test_filters_work_by_keyboard(page: Page, runs: Path) -> None:
    opened(page, runs / HUB)
    choose(page, "filter-tag", "ticket=PERF-1")
    filtered(page, 7)
    assert shown(page) == [run_id(number) for number in range(13, 0, -2)]
    expect(page.locator("#study-upgrade")).to_be_hidden()
    choose(page, "filter-state", "failed")
    filtered(page, 1)
    assert shown(page) == [run_id(3)]
    page.get_by_role("button", name="Show all").focus()
    page.keyboard.press("Enter")
    filtered(page, 15)
    assert len(shown(page)) == RUNS + 1
    choose(page, "filter-study", "upgrade")
    filtered(page, 1)
    assert shown(page) == [run_id(1)]
    expect(page.locator("#study-nightly")).to_be_hidden()


def test_runs_sort_by_keyboard(page: Page, runs: Path) -> None:
    opened(page, runs / HUB)
    head = page.locator("#study-nightly .runs thead button", has_text="State")
    head.focus()
    page.keyboard.press("Enter")
    states = page.locator("#study-nightly .runs tbody .state").all_inner_texts()
    assert states == ["failed"] + ["ok"] * 13
    expect(page.locator("#study-nightly .runs th[aria-sort]")).to_have_count(1)
    page.keyboard.press("Enter")
    assert page.locator("#study-nightly .runs tbody .state").all_inner_texts()[-1] == "failed"


def test_the_tab_key_reaches_skip_link_studies_filters_and_tables(page: Page, runs: Path) -> None:
    opened(page, runs / HUB)
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.id || document.activeElement.ariaLabel "
                          "|| document.activeElement.textContent.trim()")
        )  # fmt: skip
    assert seen[:6] == [
        "Skip to the studies", "nightly", "upgrade", "filter-study", "filter-state", "filter-tag",
    ]  # fmt: skip
    assert "Show all" in seen and "Studies" in seen
    page.keyboard.press("Shift+Tab")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#studies'")


def test_a_screen_reader_gets_names_numbers_and_changes(page: Page, runs: Path) -> None:
    opened(page, runs / HUB)
    assert page.get_by_role("heading", level=1).inner_text() == "15 runs of 2 studies"
    table = page.get_by_role("table", name="Runs of nightly, newest first")
    assert table.get_by_role("rowheader").count() == RUNS
    charts = page.get_by_role("img", name="rate in ops/s by run")
    assert charts.count() == 3
    label = charts.first.get_attribute("aria-label") or ""
    assert (
        f"since run {run_id(CHANGED)}" in label
        and "1 worker per host, flash: 100\xa0ops/s" in label
    )
    regions = page.locator("[role=region]")
    assert all(region.get_attribute("tabindex") == "0" for region in regions.all())
    broken = page.get_by_role("region", name="Runs of upgrade")
    expect(broken.get_by_role("cell", name="No results: the run has no summary")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_scheme(
    page: Page, runs: Path, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    opened(page, runs / HUB)
    fill = page.evaluate("getComputedStyle(document.querySelector('.mark-symbol path')).fill")
    assert fill == ("rgb(86, 180, 233)" if scheme == "dark" else "rgb(0, 114, 178)")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)")


@pytest.mark.parametrize("width_px", [1200, 360])
def test_both_pages_are_no_wider_than_their_window(
    page: Page, complaints: list[str], runs: Path, tmp_path: Path, width_px: int
) -> None:
    opened(page, runs / HUB, width_px)
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    before = eight_repetitions()
    after = before.model_copy(update={"run": "20261121T201530Z", "study": "upgrade"})
    compared = compare((before,), after, 0.05)
    write(Pair(before, after, compared, ()), tmp_path / "compare.html")
    opened(page, tmp_path / "compare.html", width_px)
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    assert page.get_by_role("table", name="Numbers of both runs").get_by_role("row").count() > 40
    assert complaints == []


def test_without_scripts_every_run_and_chart_is_there(page: Page, runs: Path) -> None:
    with page.context.browser.new_page(java_script_enabled=False) as plain:  # type: ignore[union-attr]
        plain.goto((runs / HUB).as_uri())
        assert plain.locator("tr[data-run]:visible").count() == RUNS + 1
        assert plain.locator("[data-chart] svg").count() == 3
        expect(plain.locator("#filters")).to_be_hidden()
