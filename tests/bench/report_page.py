"""The report's page with more than 500 trials: time until it is seen, until it can be used, and its size."""

from __future__ import annotations

import tempfile
from pathlib import Path

from density_study.analysis.report.page import write
from tests.bench.measurement import Measurement, at_most
from tests.support.chromium import chromium, open_report
from tests.support.summary_factory import hundreds_of_trials

SINCE_NAVIGATION_MS = "name => performance.getEntriesByName(name)[0].startTime"


def bench(repeats: int) -> list[Measurement]:
    """Opens the page of a made-up run from file://, each time in a fresh browser."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        page = Path(folder) / "index.html"
        write(hundreds_of_trials(), page)
        seen_s, usable_s = zip(*(_opened_s(page) for _ in range(repeats)), strict=True)
        size_mb = page.stat().st_size / 1e6
    return [
        at_most("report of 518 trials, first chart visible", "s", list(seen_s), 1.0),
        at_most("report of 518 trials, filters and buttons usable", "s", list(usable_s), 1.0),
        at_most("report of 518 trials, size", "MB", [size_mb], 6.0),
    ]


def _opened_s(page: Path) -> tuple[float, float]:
    """The first chart is part of the page's HTML and of its first paint. Usable: its scripts ran, and a frame
    was drawn after them."""
    with chromium() as browser:
        opened = browser.new_page()
        open_report(opened, page)
        seen_ms, usable_ms = (
            float(opened.evaluate(SINCE_NAVIGATION_MS, name))
            for name in ("first-contentful-paint", "ready")
        )
    return seen_ms / 1000.0, usable_ms / 1000.0
