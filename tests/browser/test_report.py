"""The report in headless Chromium: charts are drawn and equal summary.json, keys work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from density_study.analysis.report.page import write
from density_study.analysis.summary.summary import Summary
from tests.browser.reading import ROWS, stored_number
from tests.support.chromium import draw_inside, open_report
from tests.support.report_pages import PAGES
from tests.support.summary_factory import FACTORIES, one_block

pytestmark = pytest.mark.browser

CHARTS = {"one": 43, "eight": 66, "talk": 139}
"""SVG charts of the page, and those of the trial shown in detail."""
INSIDE = 6
"""Charts of a trial, drawn by the page's script."""
STATES = "[...document.querySelectorAll('[data-chart]')].map(one => ({...one.dataset}))"


@pytest.mark.parametrize("name", PAGES)
def test_every_chart_is_drawn_without_a_console_message(
    page: Page, complaints: list[str], reports: dict[str, Path], name: str
) -> None:
    open_report(page, reports[name])
    draw_inside(page)
    states = page.evaluate(STATES)
    assert len(states) == CHARTS[name]
    drawn = [state for state in states if state["state"] == "drawn"]
    assert {state["state"] for state in states} == {"static", "drawn"}
    assert len(drawn) == INSIDE
    assert all(int(state["marks"]) > 0 for state in drawn)
    assert page.evaluate("document.documentElement.dataset.errors") == "0"
    assert complaints == []
    roles = (
        "[...document.querySelectorAll('[data-chart]')].map(c => [c.role, c.ariaLabel.length > 30])"
    )
    assert all(role == ["img", True] for role in page.evaluate(roles))


@pytest.mark.parametrize("name", PAGES)
def test_drawn_numbers_are_those_of_summary_json(
    page: Page, reports: dict[str, Path], name: str
) -> None:
    summary = json.loads(FACTORIES[name]().model_dump_json())
    open_report(page, reports[name])
    draw_inside(page)
    drawn = page.evaluate(ROWS)
    assert len(drawn) == INSIDE
    for rows in drawn.values():
        assert rows
        for row in rows:
            if "ref" not in row:  # a gap, where a line is broken
                assert row["value"] is None
                continue
            for key in ("value", "low", "high"):
                assert row.get(key) == stored_number(summary, row["ref"], key), row["ref"]


def test_the_layout_does_not_shift_while_charts_are_drawn(
    page: Page, reports: dict[str, Path]
) -> None:
    open_report(page, reports["eight"])
    shift = page.evaluate(
        """new Promise(done => new PerformanceObserver(list => done(
            list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
        )).observe({type: 'layout-shift', buffered: true})
        || setTimeout(() => done(0), 500))"""
    )
    assert shift < 0.01


def test_charts_are_visible_without_scripts(browser: Browser, reports: dict[str, Path]) -> None:
    with browser.new_page(java_script_enabled=False) as page:
        page.goto(reports["one"].as_uri())
        states = page.evaluate(STATES)
        assert {state["state"] for state in states} == {"static"}
        shown = page.evaluate(
            "[...document.querySelectorAll('[data-chart] svg')].filter(svg => "
            "svg.getBoundingClientRect().width > 100 && svg.querySelector('.role-mark path')).length"
        )
        assert shown == len(states) == CHARTS["one"] - INSIDE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_scheme(
    page: Page, reports: dict[str, Path], scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    open_report(page, reports["one"])
    fill = page.evaluate(
        "getComputedStyle(document.querySelector("
        "'[data-chart^=throughput-ycsb] .mark-symbol.role-mark path')).fill"
    )
    assert fill == ("rgb(86, 180, 233)" if scheme == "dark" else "rgb(0, 114, 178)")


@pytest.mark.parametrize("width_px", [1200, 390, 360])
@pytest.mark.parametrize(
    "name",
    ["one", *(pytest.param(name, marks=pytest.mark.slow) for name in ("eight", "all invalid"))],
)
def test_the_page_is_no_wider_than_its_window(
    page: Page, reports: dict[str, Path], name: str, width_px: int
) -> None:
    open_report(page, reports[name], width_px)
    page.add_style_tag(content="#charts > section { content-visibility: visible !important }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    wide = page.evaluate(
        "[...document.querySelectorAll('[data-chart]')].filter(chart => chart.querySelector('svg')"
        ".getBoundingClientRect().width > chart.getBoundingClientRect().width + 1).length"
    )
    assert wide == 0


def test_trials_sort_by_keyboard(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["one"])
    page.locator("#trial-table thead button").first.focus()
    for _ in range(5):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Throughput"
    page.keyboard.press("Enter")
    values = "[...document.querySelectorAll('#trial-table tbody tr')].map(r => +r.cells[5].dataset.value)"
    ascending = page.evaluate(values)
    assert ascending == sorted(ascending)
    page.keyboard.press("Enter")
    assert page.evaluate(values) == sorted(ascending, reverse=True)
    heads = "[...document.querySelectorAll('#trial-table th[aria-sort]')].map(h => h.ariaSort)"
    assert page.evaluate(heads) == ["descending"]


def hostile() -> Summary:
    harm = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
    summary = one_block(study=harm)
    test_cases = tuple(
        entry.model_copy(update={"label": f"={harm}"}) for entry in summary.test_cases
    )
    trials = tuple(
        trial.model_copy(update={"trial": f"{harm}{trial.order}"}) for trial in summary.trials
    )
    series = tuple(
        one.model_copy(
            update={
                "trial": trial.trial,
                "cpu": tuple(c.model_copy(update={"scope": f"node:{harm}"}) for c in one.cpu),
            }
        )
        for one, trial in zip(summary.series, trials, strict=False)
    )
    findings = tuple(finding.model_copy(update={"statement": harm}) for finding in summary.findings)
    parts: dict[str, Any] = {"test_cases": test_cases, "findings": findings, "trials": trials}
    return summary.model_copy(update={**parts, "series": series, "headline": harm})


def test_hostile_names_do_no_harm(page: Page, complaints: list[str], tmp_path: Path) -> None:
    write(hostile(), tmp_path / "hostile.html")
    open_report(page, tmp_path / "hostile.html")
    draw_inside(page)
    assert page.evaluate("window.harmed === undefined")
    assert complaints == []
    assert {state["state"] for state in page.evaluate(STATES)} == {"static", "drawn"}


def test_a_chart_that_cannot_be_drawn_is_reported(
    page: Page, complaints: list[str], reports: dict[str, Path], tmp_path: Path
) -> None:
    text = reports["one"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace('"mark":{"type":"bar"', '"mark":{"type":"none"'), encoding="utf-8"
    )
    open_report(page, broken)
    draw_inside(page)
    assert "failed" in {state["state"] for state in page.evaluate(STATES)}
    assert int(page.evaluate("document.documentElement.dataset.errors")) > 0
    assert complaints
