"""`rebuild`: runs/index.html, the results hub: every run of every study, and how the results changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from density_study.analysis.comparison.acknowledged import read_acknowledged
from density_study.analysis.comparison.history import MOST_BYTES
from density_study.analysis.hub.files import HUB, hub_policy, hub_scripts
from density_study.analysis.hub.open_regressions import OpenRegression, open_regressions
from density_study.analysis.hub.results import HubRun, HubStudy, results
from density_study.analysis.hub.trend import trend
from density_study.analysis.report.charts.figure import Figure
from density_study.analysis.report.charts.quantity import ratio
from density_study.analysis.report.html import static, templates
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import NotPlainError, read_plain

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
                log.warning("the results hub was not written: %s is not ours", runs / HUB)
                return
            studies = results(runs)
            text = render(studies, time.time(), list(_regressions(runs, studies)))
            atomic.write_text(runs / HUB, text.encode("utf-8", "replace").decode())
    except Exception as error:
        log.warning("the results hub was not written: %s: %s", type(error).__name__, error)


def _may_write(path: Path) -> bool:
    try:
        return f'content="{GENERATOR}"'.encode() in read_plain(path, MOST_BYTES)[:4096]
    except FileNotFoundError:
        return True
    except NotPlainError:
        return False


def _regressions(runs: Path, studies: Sequence[HubStudy]) -> Iterator[OpenRegression]:
    for study in studies:
        try:
            yield from open_regressions(study, read_acknowledged(runs / study.name))
        except Exception as error:  # files of others; the runs are listed all the same
            log.warning(
                "study %s: open regressions: %s: %s", study.name, type(error).__name__, error
            )


def render(
    studies: Sequence[HubStudy], now: float, regressions: Sequence[OpenRegression] = ()
) -> str:
    """The whole page, as of `now` (epoch seconds). It needs no network and no server."""
    every = [run for study in studies for run in study.runs]
    return _environment().get_template("hub.html.j2").render(
        generator=GENERATOR,
        created=_utc(now),
        studies=studies,
        runs=every,
        regressions=regressions,
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
    try:
        return trend(study.analysed, study.change_points, f"trend-{study.name}")
    except Exception as error:  # each summary is sound by itself; the runs are still listed
        log.warning("study %s: no trend: %s: %s", study.name, type(error).__name__, error)
        return None


def _change(study: HubStudy) -> str:
    """The newest change point in words, "" if there is none."""
    try:
        found = study.change_points
    except Exception as error:
        return f"not computed: {type(error).__name__}"
    if not found:
        return ""
    last = found[-1]
    others = len(found) - 1
    more = f", and {others} more" if others else ""
    return f"{last.subject}: {ratio(last.ratio)} since {last.run}{more}"


def _tags(run: HubRun) -> list[str]:
    return [f"{key}={value}" for key, value in run.facts.tags.items()]


def _utc(epoch_s: float | None) -> str:
    if epoch_s is None:
        return "not known"
    try:
        return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # no time that a clock shows
        return "not known"


@cache
def _environment() -> Environment:
    return templates()
