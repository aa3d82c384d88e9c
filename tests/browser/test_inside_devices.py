"""What telemetry devices measured, in the report: on one axis of time, marked, and as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from density_study.analysis.report.page import write
from density_study.analysis.summary.summary import Summary
from tests.browser.conftest import heard
from tests.browser.reading import resolve
from tests.support.chromium import draw_inside, open_report
from tests.support.series_factory import watched
from tests.support.summary_factory import FACTORIES

pytestmark = pytest.mark.browser
VIEWS = "Object.entries(window.reportViews).filter(([id]) => id.startsWith('inside-'))"


@pytest.fixture(scope="module")
def summary() -> Summary:
    made = FACTORIES["one"]()
    return made.model_copy(update={"series": tuple(map(watched, made.series))})


@pytest.fixture(scope="module")
def report(summary: Summary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("devices") / "report.html"
    write(summary, file)
    return file


@pytest.fixture(scope="module")
def shown(report: Path, browser: Browser) -> Iterator[Page]:
    """Drawn once, which takes seconds: no test changes it."""
    with browser.new_page() as page:
        complaints = heard(page)
        open_report(page, report)
        draw_inside(page)
        assert complaints == []
        yield page


def test_every_number_of_a_device_is_drawn_once(shown: Page, summary: Summary) -> None:
    rows = shown.evaluate(
        f"{VIEWS}.flatMap(([, view]) => view.data('rows').map(row => ({{...row}})))"
    )
    drawn = {row["ref"]: row["value"] for row in rows if "/devices/" in row.get("ref", "")}
    stored: Any = json.loads(summary.model_dump_json())
    assert len(drawn) == sum(len(one.value) for one in summary.series[0].devices)
    for ref, value in drawn.items():
        assert value == resolve(stored, ref)


TIMED = (
    VIEWS
    + """.filter(([, view]) => {
    try { return view.data('window') } catch { return false }  // latency by percentile has none
})"""
)
AXES = """.map(([id, view]) => {
    const left = document.querySelector(`[data-chart="${id}"]`).getBoundingClientRect().left;
    return [left + view.origin()[0], view.signal('width'), ...view.scale('x').domain()];
})"""
MARKS = ".map(([, view]) => view.data('marks').map(row => [row.kind, row.at, row.end]))"


def test_charts_share_one_axis_of_time(shown: Page) -> None:
    """The plot begins at the same place, and shows the same seconds, in every chart over time."""
    found = shown.evaluate(TIMED + AXES)
    assert len(found) > 12
    assert len({tuple(one[2:]) for one in found}) == 1
    for place in (0, 1):
        assert max(one[place] for one in found) - min(one[place] for one in found) <= 1


def test_slow_seconds_and_events_are_marked_in_every_chart(shown: Page) -> None:
    marks = shown.evaluate(TIMED + MARKS)
    assert len(marks) > 12
    assert all(one == [["slow", 4, 5], ["event", 4.1, 4.62]] for one in marks)


def test_the_cause_and_the_events_are_text(shown: Page, summary: Summary) -> None:
    sentence = summary.series[0].slow[0].sentence
    assert shown.locator("#why table", has_text=sentence).count() == 1
    cells = shown.locator("#inside-charts table", has_text="Pause Full").locator("tbody tr").first
    assert cells.locator("th, td").all_text_contents() == [
        "4.1", "520\u00a0ms", "w2/a", "gc pause", "Pause Full",
    ]  # fmt: skip
