"""`rebuild`: runs/index.html, the results hub: every run of every study, and how the results changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from density_study.analysis.hub.files import HUB, hub_policy, hub_scripts
from density_study.analysis.hub.results import HubRun, HubStudy, results
from density_study.analysis.hub.trend import trend
from density_study.analysis.report.charts.figure import Figure
from density_study.analysis.report.charts.quantity import ratio
from density_study.analysis.report.html import static, templates
from density_study.cluster.state import atomic

log = logging.getLogger(__name__)

GENERATOR = "density-study results hub"
"""Marks the page as ours: another index.html is never overwritten."""


def rebuild(runs: Path) -> None:
    """Write the hub of the folder `runs`. One process at a time: the last one sees what all others did.

    If the hub cannot be written, this is logged: the runs themselves do not depend on it.
    """
    try:
        with atomic.locked(runs / ".index.lock"):
            if not _may_write(runs / HUB):
                log.warning("no results hub: %s is not ours, and is not overwritten", runs / HUB)
                return
            atomic.write_text(runs / HUB, render(results(runs), time.time()))
    except OSError as error:
        log.warning("no results hub: %s", error)


def _may_write(path: Path) -> bool:
    if path.is_symlink() or not path.exists():
        return not path.is_symlink()
    with path.open(encoding="utf-8", errors="replace") as page:
        return f'content="{GENERATOR}"' in page.read(4096)


def render(studies: Sequence[HubStudy], now: float) -> str:
    """The whole page, as of `now` (epoch seconds). It needs no network and no server."""
    every = [run for study in studies for run in study.runs]
    return _environment().get_template("hub.html.j2").render(
        generator=GENERATOR,
        created=_utc(now),
        studies=studies,
        runs=every,
        figures={study.name: _figure(study) for study in studies},
        changes={study.name: _change(study) for study in studies},
        states=sorted({run.facts.state for run in every}),
        tags=sorted({tag for run in every for tag in _tags(run)}),
        tags_of=_tags,
        utc=_utc,
        css=Markup(static("report.css") + static("hub.css")),
        scripts=hub_scripts(),
        policy=hub_policy(),
    )  # fmt: skip


def _figure(study: HubStudy) -> Figure | None:
    return trend(study.analysed, study.change_points, f"trend-{study.name}")


def _change(study: HubStudy) -> str:
    """The newest change point in words, "" if there is none."""
    if not study.change_points:
        return ""
    last = study.change_points[-1]
    others = len(study.change_points) - 1
    more = f", and {others} more" if others else ""
    return f"{last.subject}: {ratio(last.ratio)} since {last.run}{more}"


def _tags(run: HubRun) -> list[str]:
    return [f"{key}={value}" for key, value in run.facts.tags.items()]


def _utc(epoch_s: float | None) -> str:
    if epoch_s is None:
        return "not known"
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")


@cache
def _environment() -> Environment:
    return templates()
