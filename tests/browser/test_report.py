"""The report in headless Chromium: charts drawn, what is drawn is what summary.json holds, keys work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.report.chromium import Chromium
from analysis.report.page import write
from analysis.report.screenshot import main as screenshot
from analysis.summary.summary import Summary
from tests.browser.reading import ROWS, press, stored_number
from tests.support.summary_factory import FACTORIES, one_block

pytestmark = pytest.mark.browser

CHARTS = {"one": 46, "eight": 68, "talk": 140}
"""Those of the page, and of the trial that it shows from the inside."""
STATES = "[...document.querySelectorAll('[data-chart]')].map(one => ({...one.dataset}))"
# Each mark of a vertical axis: what it stands for, its place, and where the axis says it belongs.
PLACES = """Object.entries(window.reportViews).flatMap(([chart, view]) =>
    [...document.querySelectorAll(`[data-chart="${chart}"] .mark-symbol.role-mark path`)]
        .map(mark => mark.__data__)
        .filter(item => item?.datum?.ref && item.datum.density)
        .map(item => [item.datum.ref, item.y, view.scale('y')(item.datum.value)]))"""


@pytest.mark.parametrize("name", FACTORIES)
def test_every_chart_is_drawn_without_a_complaint(
    browser: Chromium, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    states = browser.evaluate(STATES)
    assert len(states) == CHARTS[name]
    assert {state["state"] for state in states} == {"drawn"}
    assert all(int(state["marks"]) > 0 for state in states)
    assert browser.evaluate("document.documentElement.dataset.errors") == "0"
    assert browser.complaints() == []
    roles = (
        "[...document.querySelectorAll('[data-chart]')].map(c => [c.role, c.ariaLabel.length > 30])"
    )
    assert all(role == ["img", True] for role in browser.evaluate(roles))


@pytest.mark.parametrize("name", FACTORIES)
def test_drawn_numbers_are_those_of_summary_json(
    browser: Chromium, pages: dict[str, Path], name: str
) -> None:
    summary = json.loads(FACTORIES[name]().model_dump_json())
    browser.open(pages[name])
    drawn = browser.evaluate(ROWS)
    assert len(drawn) == CHARTS[name]
    for rows in drawn.values():
        assert rows
        for row in rows:
            if "ref" not in row:  # a gap, where a line is broken
                assert row["value"] is None
                continue
            for key in ("value", "low", "high"):
                assert row.get(key) == stored_number(summary, row["ref"], key), row["ref"]


@pytest.mark.parametrize("name", FACTORIES)
def test_every_row_has_a_mark_at_its_place(
    browser: Chromium, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    rows = browser.evaluate(ROWS).values()
    places = browser.evaluate(PLACES)
    wanted = {row["ref"] for chart in rows for row in chart if "slot" in row}
    assert {ref for ref, _, _ in places} == wanted
    for ref, drawn_px, scale_px in places:
        assert drawn_px == pytest.approx(scale_px, abs=0.01), ref


def test_nothing_jumps_while_charts_are_drawn(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["eight"])
    shift = browser.evaluate(
        """new Slo(done => new PerformanceObserver(list => done(
            list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
        )).observe({type: 'layout-shift', buffered: true})
        || setTimeout(() => done(0), 500))"""
    )
    assert shift < 0.01


def test_charts_are_seen_without_scripts(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=pages["one"].as_uri())
        browser.wait_for("document.querySelector('footer') !== null", 10.0)
        states = browser.evaluate(STATES)
        assert {state["state"] for state in states} == {"static"}
        seen = browser.evaluate(
            "[...document.querySelectorAll('[data-chart] svg')].filter(svg => "
            "svg.getBoundingClientRect().width > 100 && svg.querySelector('.role-mark path')).length"
        )
        assert seen == len(states) == CHARTS["one"] - 6  # a trial's inside is drawn by script alone
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_scheme(browser: Chromium, pages: dict[str, Path], dark: bool) -> None:
    browser.open(pages["one"], dark=dark)
    fill = browser.evaluate(
        "getComputedStyle(document.querySelector("
        "'[data-chart^=throughput-ycsb] .mark-symbol.role-mark path')).fill"
    )
    assert fill == ("rgb(86, 180, 233)" if dark else "rgb(0, 114, 178)")


@pytest.mark.parametrize("width_px", [1200, 480, 360])
def test_the_page_is_no_wider_than_its_window(
    browser: Chromium, pages: dict[str, Path], width_px: int
) -> None:
    browser.open(pages["one"], width_px)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width_px
    wide = browser.evaluate(
        "[...document.querySelectorAll('[data-chart]')].filter(chart => chart.querySelector('svg')"
        ".getBoundingClientRect().width > chart.getBoundingClientRect().width + 1).length"
    )
    assert wide == 0


def test_trials_sort_by_keyboard(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["one"])
    browser.evaluate("document.querySelector('#trial-table thead button').focus()")
    for _ in range(5):
        press(browser, "Tab", 9)
    assert browser.evaluate("document.activeElement.textContent") == "Throughput"
    press(browser, "Enter", 13)
    values = "[...document.querySelectorAll('#trial-table tbody tr')].map(r => +r.cells[5].dataset.value)"
    ascending = browser.evaluate(values)
    assert ascending == sorted(ascending)
    press(browser, "Enter", 13)
    assert browser.evaluate(values) == sorted(ascending, reverse=True)
    heads = "[...document.querySelectorAll('#trial-table th[aria-sort]')].map(h => h.ariaSort)"
    assert browser.evaluate(heads) == ["descending"]


def hostile() -> Summary:
    harm = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
    summary = one_block(study=harm)
    settings = tuple(one.model_copy(update={"label": f"={harm}"}) for one in summary.settings)
    trials = tuple(one.model_copy(update={"trial": f"{harm}{one.order}"}) for one in summary.trials)
    series = tuple(
        one.model_copy(
            update={
                "trial": trial.trial,
                "cpu": tuple(c.model_copy(update={"scope": f"node:{harm}"}) for c in one.cpu),
            }
        )
        for one, trial in zip(summary.series, trials, strict=False)
    )
    findings = tuple(one.model_copy(update={"statement": harm}) for one in summary.findings)
    parts: dict[str, Any] = {"settings": settings, "findings": findings, "trials": trials}
    return summary.model_copy(update={**parts, "series": series, "answer": harm})


def test_names_that_mean_harm_do_none(browser: Chromium, tmp_path: Path) -> None:
    write(hostile(), tmp_path / "hostile.html")
    browser.open(tmp_path / "hostile.html")
    assert browser.evaluate("window.harmed === undefined")
    assert browser.complaints() == []
    assert {state["state"] for state in browser.evaluate(STATES)} == {"drawn"}


def test_a_chart_that_cannot_be_drawn_is_told(
    browser: Chromium, pages: dict[str, Path], tmp_path: Path
) -> None:
    text = pages["one"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace('"mark":{"type":"bar"', '"mark":{"type":"none"'), encoding="utf-8"
    )
    browser.open(broken)
    assert "failed" in {state["state"] for state in browser.evaluate(STATES)}
    assert int(browser.evaluate("document.documentElement.dataset.errors")) > 0
    assert browser.complaints()


def test_the_picture_for_the_readme(pages: dict[str, Path], tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    assert screenshot([str(pages["one"]), str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 300_000
    assert screenshot([str(tmp_path / "none.html"), str(picture)]) == 2
