"""The report's layout, as a reader sees it: nothing is cut off, too small, or broken over lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from density_study.analysis.report.page import write
from tests.support.chromium import draw_inside, open_report
from tests.support.report_pages import PAGES
from tests.support.summary_factory import one_block

pytestmark = pytest.mark.browser

EVERYTHING = "#charts > section { content-visibility: visible !important }"
SMALLEST_PX, LARGEST_PX = 9.0, 16.0
# Font sizes of a chart's texts as they appear on the screen, by chart.
SIZES = """() => [...document.querySelectorAll("[data-chart] svg")].filter(svg => svg.checkVisibility())
    .flatMap(svg => [...svg.querySelectorAll("text")].filter(text => text.textContent.trim()).map(text => {
        const to = text.getScreenCTM();
        return [svg.closest("[data-chart]").dataset.chart,
            parseFloat(getComputedStyle(text).fontSize) * Math.hypot(to.a, to.b)]; }))"""
# Texts that reach beyond their chart, which cuts them off.
CUT = """() => [...document.querySelectorAll("[data-chart] svg text")].filter(text => text.checkVisibility())
    .filter(text => { const own = text.getBoundingClientRect(),
            box = text.closest("[data-chart]").getBoundingClientRect();
        return own.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1); })
    .map(text => `${text.closest("[data-chart]").dataset.chart}: ${text.textContent}`)"""
WIDE = """() => [...document.querySelectorAll(".scroll")].filter(box => box.checkVisibility())
    .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.ariaLabel)"""
# Options of commands that are on two lines.
BROKEN = """() => { const found = [];
    const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) for (const match of walk.currentNode.data.matchAll(/--[a-z][a-z-]+/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, match.index);
        range.setEnd(walk.currentNode, match.index + match[0].length);
        found.push([match[0], new Set([...range.getClientRects()].map(one => Math.round(one.top))).size]); }
    return found; }"""


@pytest.mark.parametrize("name", PAGES)
def test_texts_of_charts_can_be_read_on_a_phone_and_are_not_blown_up(
    page: Page, reports: dict[str, Path], name: str
) -> None:
    for width_px in (390, 1400):
        open_report(page, reports[name], width_px)
        page.add_style_tag(content=EVERYTHING)
        sizes = page.evaluate(SIZES)
        assert len(sizes) > 100
        outside = {(chart, px) for chart, px in sizes if not SMALLEST_PX <= px <= LARGEST_PX}
        assert not outside, width_px


@pytest.mark.parametrize("name", ["one", pytest.param("eight", marks=pytest.mark.slow)])
def test_no_text_of_a_chart_is_cut_off(page: Page, reports: dict[str, Path], name: str) -> None:
    open_report(page, reports[name], 1400)
    page.add_style_tag(content=EVERYTHING)
    draw_inside(page)
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("width_px", [1400, 1200])
@pytest.mark.parametrize("name", [*PAGES, pytest.param("all invalid", marks=pytest.mark.slow)])
def test_no_table_is_wider_than_a_desktop_window(
    page: Page, reports: dict[str, Path], name: str, width_px: int
) -> None:
    open_report(page, reports[name], width_px)
    page.add_style_tag(content=EVERYTHING)
    assert page.evaluate(WIDE) == []


def test_a_table_that_scrolls_shows_that_it_goes_on(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["one"], 390)
    page.add_style_tag(content=EVERYTHING)
    assert "Trials" in page.evaluate(WIDE)
    assert "Density by disk type" not in page.evaluate(WIDE)
    shadow = "getComputedStyle(document.querySelector('[aria-label=Trials].scroll')).backgroundAttachment"
    assert set(page.evaluate(shadow).split(", ")) == {"local", "scroll"}


def test_options_of_commands_are_not_broken_over_lines(page: Page, tmp_path: Path) -> None:
    summary = one_block()
    headline = (
        "Inconclusive, with a sentence of some length, --add-repetitions 4 --add-repetitions 5"
    )
    file = tmp_path / "report.html"
    write(summary.model_copy(update={"headline": headline}), file)
    for width_px in range(340, 400, 12):
        open_report(page, file, width_px)
        found = page.evaluate(BROKEN)
        assert len(found) >= 3
        assert {lines for _, lines in found} == {1}, (width_px, found)


def test_charts_inside_a_trial_name_what_they_show_once(
    page: Page, reports: dict[str, Path]
) -> None:
    open_report(page, reports["one"])
    draw_inside(page)
    titles = page.evaluate(
        "[...document.querySelectorAll('#inside-charts h3')].map(h => h.firstChild.data)"
    )
    assert titles == [
        "Throughput by second", "Disks by second",
        "CPU of host here", "CPU of the client", "CPU of the monitors", "CPU of worker-1",
    ]  # fmt: skip
    for panel in page.locator("#inside-charts .panel").all():
        legend = panel.locator(".legend li").all_text_contents()
        subtitle = panel.locator("h3 span").all_text_contents()
        assert not set(subtitle) & {", ".join(words.strip() for words in legend)}
