"""Pages: the report of 518 trials and of 4,107, and the hub of 1,000 runs. Time until each is seen and until
it can be used."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import product
from pathlib import Path

from density_study.analysis.hub.files import HUB
from density_study.analysis.report.page import write
from tests.bench.measurement import Measurement, at_most, printed
from tests.support.chromium import chromium, open_report
from tests.support.made_runs.nightly_runs import hub, nightly, whole
from tests.support.summary_factory import eight_repetitions, hundreds_of_trials

SINCE_NAVIGATION_MS = (
    "name => performance.getEntriesByName(name)[0]?.startTime ?? performance.now()"
)
STUDIES, NIGHTS = 10, 100


def bench(repeats: int) -> list[Measurement]:
    """Opens made-up pages from file://, each time in a fresh browser."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        return [*_reports(Path(folder), repeats), *_hub(Path(folder) / "runs", repeats)]


def _reports(folder: Path, repeats: int) -> Iterator[Measurement]:
    for summary, limit_s, largest_mb in (
        (hundreds_of_trials(), 1.0, 6.0),
        (eight_repetitions(repetitions=111), 2.0, 12.0),
    ):
        page = folder / "index.html"
        write(summary, page)
        name = f"report of {len(summary.trials):,} trials"
        seen_s, usable_s = zip(*(_opened_s(page) for _ in range(repeats)), strict=True)
        yield at_most(f"{name}, first chart visible", "s", list(seen_s), limit_s)
        yield at_most(f"{name}, filters and buttons usable", "s", list(usable_s), limit_s)
        yield at_most(f"{name}, size", "MB", [page.stat().st_size / 1e6], largest_mb)


def _hub(runs: Path, repeats: int) -> Iterator[Measurement]:
    for study, night in product(range(STUDIES), range(NIGHTS)):
        _add(runs, study, night)
    name = f"hub of {STUDIES * NIGHTS:,} runs"
    yield printed(f"{name}, written for the first time", "s", [_written_s(runs)])
    made_s = []
    for night in range(NIGHTS, NIGHTS + repeats):
        _add(runs, 0, night)
        made_s.append(_written_s(runs))
    yield at_most(f"{name}, written after one more", "s", made_s, 2.0)
    usable_s = [_opened_s(runs / HUB)[1] for _ in range(repeats)]
    yield at_most(f"{name}, usable", "s", usable_s, 2.0)


def _add(runs: Path, study: int, night: int) -> None:
    run = f"{date(2026, 1, 1) + timedelta(night):%Y%m%d}T020000Z"
    own = {"study": f"nightly-{study}", "run": run}
    whole(runs, nightly(night).model_copy(update=own))


def _written_s(runs: Path) -> float:
    begun = time.monotonic()
    hub(runs)
    return time.monotonic() - begun


def _opened_s(page: Path) -> tuple[float, float]:
    """The first chart is part of the page's HTML and of its first paint. Usable: its scripts ran, and in a
    report a frame was drawn after them."""
    with chromium() as browser:
        opened = browser.new_page()
        open_report(opened, page)
        seen_ms, usable_ms = (
            float(opened.evaluate(SINCE_NAVIGATION_MS, name))
            for name in ("first-contentful-paint", "ready")
        )
    return seen_ms / 1000.0, usable_ms / 1000.0
