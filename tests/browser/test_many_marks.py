"""Charts of long studies: units that are drawn as one element look as they do apart."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page

from density_study.analysis.report.charts import figure
from density_study.analysis.report.charts.figure import Panel
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.report.html import static
from tests.browser.reading import resolve
from tests.support.made_runs.nightly_runs import nightly

pytestmark = pytest.mark.browser
BUILDS = 60
SUMMARY = nightly(1, builds=BUILDS, trials=())
_CLOUD = re.compile(
    r'<path data-ref="([^"]+/points)"[^>]* d="M([^"]+)"[^>]*><title>([^<]+)</title>'
)
DIFFERENCE = """async (pictures) => {
  const pixels = async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height).data;
  };
  const [one, other] = await Promise.all(pictures.map(pixels));
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at])), 0);
}"""
"""Of two pictures, the largest in a pixel's red, green or blue, of 255."""
_APART = re.compile(r'<path data-ref="[^"]+/points/(\d+)"[^>]*translate\(([^,]+),([^)]+)\)')


@pytest.fixture(scope="module")
def panel() -> Panel:
    """The throughput of a test case, in 60 builds."""
    (_, _, figures), *_ = sections(View(SUMMARY))
    return figures[0].panels[0]


@pytest.fixture(scope="module")
def drawings(panel: Panel) -> tuple[str, str]:
    """Together and apart."""
    with pytest.MonkeyPatch.context() as patch:
        together = panel.svg
        patch.setattr(figure, "MOST_APART", BUILDS)
        return together, panel.svg


def test_every_unit_is_at_its_place(drawings: tuple[str, str]) -> None:
    together, apart = drawings
    ((ref, corners, tip),) = _CLOUD.findall(together)
    points = [tuple(map(float, corner.split(","))) for corner in corners.split("L")]
    each = [(int(n), float(x), float(y)) for n, x, y in _APART.findall(apart)]
    assert [n for n, _, _ in each] == list(range(BUILDS)) and _APART.findall(together) == []
    for point, (_, x, y) in zip(points, each, strict=True):
        assert point == pytest.approx((x, y), abs=0.006)
    values = resolve(json.loads(SUMMARY.model_dump_json()), ref)
    assert len(values) == BUILDS
    by_value = sorted(zip(values, (y for _, y in points), strict=True))
    assert all(upper <= lower for (_, lower), (_, upper) in pairwise(by_value))
    assert f": {BUILDS} values, " in tip
    assert len(together) < len(apart) / 4


def test_they_look_the_same(page: Page, drawings: tuple[str, str]) -> None:
    pictures = []
    for drawing in drawings:
        css = static("report.css")
        page.set_content(f'<style>{css}</style><div class="chart" style="--drawn: 360px">{drawing}')
        pictures.append(base64.b64encode(page.locator("svg").screenshot()).decode())
    assert page.evaluate(DIFFERENCE, pictures) < 32


def test_they_are_hidden_and_named_as_one(page: Page, drawings: tuple[str, str]) -> None:
    page.set_content(f"<style>{static('report.css')}</style><div>{drawings[0]}")
    cloud = page.locator("path[data-ref$='/points']")
    before = page.locator("svg").screenshot()
    inside = page.evaluate(
        """() => { const path = document.querySelector("path[data-ref$='/points']");
        const {x, y, width, height} = path.getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2) === path }"""
    )
    assert inside, "the pointer finds its title"
    cloud.evaluate("path => path.toggleAttribute('hidden', true)")
    assert page.locator("svg").screenshot() != before
