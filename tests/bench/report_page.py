"""The report's page: time to its first visible chart, and its size."""

from __future__ import annotations

import tempfile
from pathlib import Path

from analysis.report.page import write
from tests.bench.measurement import Measurement, at_most
from tests.support.chromium import chromium, open_report
from tests.support.summary_factory import FACTORIES

FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def bench(repeats: int) -> list[Measurement]:
    """Opens the page of a synthetic run of 8 repetitions, from file://, in a fresh browser."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        page = Path(folder) / "index.html"
        write(FACTORIES["eight"](), page)
        visible_s = [_first_chart_s(page) for _ in range(repeats)]
        size_mb = page.stat().st_size / 1e6
    return [
        at_most("report, first chart visible", "s", visible_s, 2.0),
        at_most("report, size", "MB", [size_mb], 6.0),
    ]


def _first_chart_s(page: Path) -> float:
    """Charts are drawn in the page's own HTML: they appear with its first paint."""
    with chromium() as browser:
        opened = browser.new_page()
        open_report(opened, page)
        return float(opened.evaluate(FIRST_PAINT)) / 1000.0
