"""The report without a mouse, without sight, on a phone and on paper. axe-core is a Python package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.chromium import draw_inside, open_report

pytestmark = pytest.mark.browser

KINDS = ["eight", "empty", "all invalid", "one"]
"""Of a run that decides, that has no trial, that has no valid trial, and that decides nothing."""
EVERYTHING = "#charts > section { content-visibility: visible !important }"
A4_PX = (688, 1017)
"""Sheet less the margins of 14 mm, at 96 pixels per inch."""
FOCUSED = """() => { const at = document.activeElement, own = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    return {tag: at.tagName, href: at.getAttribute("href"), text: at.textContent.trim().slice(0, 40),
        order: [...document.querySelectorAll("*")].indexOf(at), outline: own.outlineStyle,
        seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight}; }"""
# Everything in print that reaches beyond the sheet's width.
CUT = """width => [...document.querySelectorAll("main svg, main table, main pre, h1, p")]
    .filter(one => one.checkVisibility() && !one.closest(".unseen"))
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .map(one => `${one.tagName} in ${one.closest("section").id}`)"""
# Charts that are not drawn as a whole in their box, or that a page break may divide.
DIVIDED = """height => [...document.querySelectorAll(".panel")].filter(one => one.checkVisibility())
    .filter(one => { const svg = one.querySelector("svg").getBoundingClientRect(),
            box = one.querySelector(".chart").getBoundingClientRect();
        return getComputedStyle(one).breakInside !== "avoid" || one.getBoundingClientRect().height > height
            || svg.bottom > box.bottom + 1 || svg.right > box.right + 1; })
    .map(one => one.querySelector("[data-chart]").dataset.chart)"""


def _violations(page: Page) -> list[str]:
    """Each violation of a rule, with the elements that violate it."""
    found: dict[str, Any] = Axe().run(page).response
    assert found["testEngine"]["name"] == "axe-core"
    return [
        f"{one['id']}: {node['html'][:150]} {node.get('failureSummary', '')}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "one" else [pytest.mark.slow]) for name in KINDS],
)
@pytest.mark.parametrize(
    ("scheme", "width_px"),
    [
        ("light", 390),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
        pytest.param("light", 1280, marks=pytest.mark.slow),
        pytest.param("dark", 390, marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_violation(
    page: Page, reports: dict[str, Path], name: str, scheme: Literal["light", "dark"], width_px: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    open_report(page, reports[name], width_px)
    page.add_style_tag(content=EVERYTHING)  # axe passes over what is not laid out
    if name != "empty":
        draw_inside(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert _violations(page) == []


def test_axe_would_find_a_violation(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["one"])
    page.evaluate("document.querySelector('#answer .chart').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.question').style.color = '#ddd'")
    rules = {one.split(":")[0] for one in _violations(page)}
    assert rules == {"role-img-alt", "color-contrast"}


@pytest.mark.parametrize("width_px", [1280, 390])
def test_the_keyboard_reaches_everything_in_reading_order(
    page: Page, reports: dict[str, Path], width_px: int
) -> None:
    open_report(page, reports["one"], width_px)
    page.keyboard.press("Tab")
    first = page.evaluate(FOCUSED)
    assert (first["text"], first["seen"]) == ("Skip to the findings", True)
    stops = [first]
    while stops[-1]["text"] != "Show all":
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        assert len(stops) < 60
    assert [stop["order"] for stop in stops] == sorted({stop["order"] for stop in stops})
    assert all(stop["seen"] and stop["outline"] != "none" for stop in stops), stops
    links = [stop["href"] for stop in stops if stop["tag"] == "A"]
    assert {"#trials", "#findings", "#limits", "#inside", "#glossary"} <= set(links)


def test_the_first_link_skips_to_the_findings(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["eight"])
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('findings').getBoundingClientRect().top < 200")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('section').id") == "findings"


def test_a_screen_reader_gets_the_answer_first(page: Page, reports: dict[str, Path]) -> None:
    open_report(page, reports["one"])
    tree = page.locator("main").aria_snapshot()
    order = ["Question:", "heading \"Inconclusive (1 repetition)", "list \"How far to trust this\"",
             "Not decided: all 6 comparisons", "img \"YCSB 95/5 short scan by density",
             "heading \"Limits of this run\"", "navigation \"Sections\"", "heading \"Findings\""]  # fmt: skip
    places = [tree.find(words) for words in order]
    assert -1 not in places, dict(zip(order, places, strict=True))
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["one", pytest.param("eight", marks=pytest.mark.slow)])
def test_on_paper_no_chart_is_cut(page: Page, reports: dict[str, Path], name: str) -> None:
    open_report(page, reports[name], *A4_PX)
    draw_inside(page)
    page.emulate_media(media="print")
    assert page.evaluate(CUT, A4_PX[0]) == []
    assert page.evaluate(DIVIDED, A4_PX[1]) == []


def test_on_paper_only_trials_with_a_remark_are_listed(
    page: Page, reports: dict[str, Path]
) -> None:
    open_report(page, reports["eight"], *A4_PX)
    page.emulate_media(media="print")
    rows = (
        "[...document.querySelectorAll('#trial-table tbody tr')].filter(r => r.checkVisibility())"
    )
    verdicts = page.evaluate(f"{rows}.map(r => r.dataset.verdict)")
    assert sorted(set(verdicts)) == ["invalid", "unknown"] and len(verdicts) == 16
    assert page.locator("text=Valid trials without warnings are not printed").is_visible()
    hidden = ["#filters", "nav", "#inside"]  # the last: no trial was chosen
    assert [one for one in hidden if page.locator(one).is_visible()] == []
    of_machine = page.locator("#disclosure details[open]")
    assert "AMD EPYC" in " ".join(of_machine.all_inner_texts())  # short parts are open, and printed
    assert not page.locator("#disclosure pre").first.is_visible()
