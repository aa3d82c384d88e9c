"""Filters and the details of a trial: selected by keyboard, drawn from summary.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from density_study.analysis.findings.claims import is_whole
from tests.browser.reading import choose, filtered, resolve
from tests.support.chromium import draw_inside, open_report
from tests.support.summary_factory import FACTORIES

pytestmark = pytest.mark.browser

SHOWN = "[...document.querySelectorAll('#trial-table tbody tr')].filter(r => !r.hidden)"
# [test case, density, disk type] of every visible mark in the SVG charts.
OF = """[...document.querySelectorAll('#charts [data-state="static"] [data-ref][data-test_case]')]
    .filter(mark => mark.checkVisibility())
    .map(mark => [mark.dataset.test_case, mark.dataset.density, mark.dataset.disk_type])"""


def test_filters_work_by_keyboard_on_tables_and_charts(
    page: Page, complaints: list[str], reports: dict[str, Path]
) -> None:
    open_report(page, reports["eight"])
    choose(page, "filter-disk_type", "hdd")
    filtered(page, 1)
    choose(page, "filter-density", "4 VMs")
    filtered(page, 2)
    assert {tuple(of[1:]) for of in page.evaluate(OF)} == {("4", "hdd")}
    cells = "[...document.querySelectorAll('.matrix td[data-disk_type]')].filter(c => c.checkVisibility())"
    assert set(page.evaluate(f"{cells}.map(c => c.dataset.disk_type)")) == {"hdd"}
    assert page.evaluate("document.getElementById('filter-count').value") == "56 of 296 trials"
    choose(page, "filter-verdict", "inv")
    filtered(page, 3)
    assert set(page.evaluate(f"{SHOWN}.map(r => r.dataset.verdict)")) == {"invalid"}
    assert page.evaluate("document.getElementById('filter-count').value") == "8 of 296 trials"
    page.focus("#filters button")
    page.keyboard.press("Enter")
    filtered(page, 4)
    assert page.evaluate(f"{SHOWN}.length") == 296
    assert {tuple(of[1:]) for of in page.evaluate(OF)} == {
        (density, disk_type) for density in "024" for disk_type in ("flash", "hdd")
    }
    assert complaints == []


def test_filters_by_test_case_and_by_a_findings_verdict(
    page: Page, reports: dict[str, Path]
) -> None:
    open_report(page, reports["eight"])
    choose(page, "filter-test_case", "YCSB data")
    filtered(page, 1)
    assert {of[0] for of in page.evaluate(OF)} == {"ycsb-load-r100000-t8"}
    assert set(page.evaluate(f"{SHOWN}.map(r => r.dataset.test_case)")) == {"ycsb-load-r100000-t8"}
    choose(page, "filter-verdict", "conf")
    filtered(page, 2)
    claims = """[...document.querySelectorAll('#findings .forest tr[data-claim]')].filter(r => !r.hidden)
        .map(r => r.dataset.claim)"""
    wanted = [
        finding.verdict
        for finding in FACTORIES["eight"]().findings
        if finding.verdict == "confirmed" and not is_whole(finding)
    ]
    assert page.evaluate(claims) == wanted


INSIDE = """Object.entries(window.reportViews).filter(([id]) => id.startsWith('inside-'))
    .map(([id, view]) => [document.querySelector(`[data-chart="${id}"]`).getAttribute('aria-label'),
        view.data('rows').map(row => ({...row}))])"""
# Every bar of a CPU chart: its meaning, its drawn height, and the height of its value.
BARS = """Object.entries(window.reportViews).filter(([id]) => id.startsWith('inside-'))
    .flatMap(([id, view]) => [...document.querySelectorAll(`[data-chart="${id}"] .mark-rect.role-mark path`)]
        .map(mark => mark.__data__).filter(item => item?.datum?.ref)
        .map(item => [item.datum.ref, item.height,
            view.scale('y')(0) - view.scale('y')(item.datum.value)]))"""


def test_a_trials_details_are_shown_by_keyboard(page: Page, reports: dict[str, Path]) -> None:
    summary = FACTORIES["eight"]()
    open_report(page, reports["eight"])
    choose(page, "inside-trial", "5: ")  # trials count from 1
    wanted = summary.series[4]
    room = "document.getElementById('inside-charts').dataset"
    page.wait_for_function(f"{room}.trial === '{wanted.trial}' && {room}.state === 'drawn'")
    charts = page.evaluate(INSIDE)
    assert len(charts) == len(wanted.cpu) + 3  # operations, disks, latency
    stored = json.loads(summary.model_dump_json())
    drawn = [row for _, rows in charts for row in rows if "ref" in row]
    assert {row["ref"].split("/")[2] for row in drawn} == {"4"}
    for row in drawn:
        assert row["value"] == resolve(stored, row["ref"])
    numbers = sum(len(values) for cpu in wanted.cpu for values in
                  (cpu.user, cpu.system, cpu.iowait, cpu.steal, cpu.idle))  # fmt: skip
    numbers += sum(len(rate.rate) for rate in wanted.rates)
    numbers += sum(len(curve.ms) for curve in wanted.latency)
    assert len(drawn) == len({row["ref"] for row in drawn}) == numbers
    for ref, height_px, value_px in page.evaluate(BARS):
        assert height_px == pytest.approx(value_px, abs=0.01), ref
    assert all("numbers are in the table" in label for label, _ in charts)


def test_the_workloads_window_is_marked_at_its_time(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["one"])
    draw_inside(page)
    marked = page.evaluate(
        "window.reportViews['inside-0'].data('window').map(row => [row.at, row.label])"
    )
    assert marked == [[0, ""], [FACTORIES["one"]().trials[0].measure_s, "end"]]


def test_the_table_behind_a_trials_chart_has_its_numbers(
    page: Page, reports: dict[str, Path]
) -> None:
    (rate, *_), *_ = [entry.rates for entry in FACTORIES["one"]().series]
    open_report(page, reports["one"])
    draw_inside(page)
    cells = "[...document.querySelectorAll('#inside-charts table')[0].tBodies[0].rows]"
    assert page.evaluate(f"{cells}.map(r => +r.cells[0].textContent)") == list(rate.at_s)
    column = page.evaluate(
        f"{cells}.map(r => parseFloat(r.cells[1].textContent.replace(/,/g, '')))"
    )
    assert column == pytest.approx([value or 0.0 for value in rate.rate], rel=0.005)
