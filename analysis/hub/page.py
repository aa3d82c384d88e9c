"""`rebuild`: runs/index.html, the results hub: every run of every study, and how the results changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from pydantic import TypeAdapter

from density_study.analysis.comparison.acknowledged import FILE, read_acknowledged
from density_study.analysis.comparison.history import MOST_BYTES
from density_study.analysis.hub.files import HUB, hub_policy, hub_scripts
from density_study.analysis.hub.kept import KEPT, Kept, digest, status
from density_study.analysis.hub.open_regressions import OpenRegression, open_regressions
from density_study.analysis.hub.results import HubRun, HubStudy, results
from density_study.analysis.hub.trend import trend
from density_study.analysis.report.charts.quantity import ratio
from density_study.analysis.report.html import static, templates
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import NotPlainError, read_plain, why_unread

log = logging.getLogger(__name__)

GENERATOR = "density-study results hub"
"""Marks the page as ours: another index.html is never overwritten."""


@dataclass(frozen=True)
class StudyPart:
    """What the page has of a study: its `line` in the list of studies, the lines of its open `regressions`,
    and its `section`, as HTML; the `states` and `tags` that its runs have."""

    name: str
    count: int
    states: tuple[str, ...]
    tags: tuple[str, ...]
    line: str
    regressions: str
    section: str


_PART = TypeAdapter(StudyPart)


def rebuild(runs: Path) -> None:
    """Write the hub of the folder `runs`. One process at a time: the last one sees what all others did. What
    it took from runs and studies that have not changed since the last time is not computed again.

    If the hub cannot be written, this is logged: the runs themselves do not depend on it.
    """
    page = "the results hub"
    try:
        with atomic.locked(runs / ".index.lock"):
            if not _may_write(runs / HUB):
                log.warning("the results hub was not written: %s is not ours", runs / HUB)
                return
            kept = Kept(runs / KEPT)
            text = render([_part(runs, study, kept) for study in results(runs, kept)], time.time())
            atomic.write_text(runs / HUB, text.encode("utf-8", "replace").decode())
            page = "what is kept beside the results hub"
            kept.write()
    except Exception as error:
        log.warning("%s was not written: %s: %s", page, type(error).__name__, error)


def _may_write(path: Path) -> bool:
    try:
        return f'content="{GENERATOR}"'.encode() in read_plain(path, MOST_BYTES)[:4096]
    except FileNotFoundError:
        return True
    except NotPlainError:
        return False


def _part(runs: Path, study: HubStudy, kept: Kept) -> StudyPart:
    known = status(runs / study.name / FILE)  # before it is read
    key = digest(study.name, known, [row.key for row in study.rows])
    with suppress(ValueError):  # the file is damaged
        if found := kept.get(key):
            return _PART.validate_json(found)
    part, is_whole = _rendered(runs, study)
    if is_whole:
        with suppress(ValueError):  # names that no encoding has
            kept.put(key, _PART.dump_json(part).decode())
    return part


def _rendered(runs: Path, study: HubStudy) -> tuple[StudyPart, bool]:
    """The part, and whether nothing of it failed. Each summary is sound by itself, but the files are of
    others: the runs are listed all the same."""
    faults: dict[str, Exception] = {}
    figure, regressions = None, tuple[OpenRegression, ...]()
    try:
        change = _change(study)
    except Exception as error:
        faults["change points"], change = error, f"not computed: {why_unread(error)}"
    try:
        figure = trend(study.analysed, study.change_points, f"trend-{study.name}")
    except Exception as error:
        faults["no trend"] = error
    try:
        regressions = tuple(open_regressions(study, read_acknowledged(runs / study.name)))
    except Exception as error:
        faults["open regressions"] = error
    for what, fault in faults.items():
        log.warning("study %s: %s: %s: %s", study.name, what, type(fault).__name__, fault)
    html: Any = _environment().get_template("hub_study.html.j2").module
    part = StudyPart(
        name=study.name,
        count=len(study.runs),
        states=tuple({run.facts.state for run in study.runs}),
        tags=tuple({tag for run in study.runs for tag in _tags(run)}),
        line=str(html.line(study, change)),
        regressions=str(html.open_regressions(regressions)),
        section=str(html.section(study, figure)),
    )
    return part, not faults


def render(studies: Sequence[StudyPart], now: float) -> str:
    """The whole page, as of `now` (epoch seconds). It needs no network and no server."""
    return _environment().get_template("hub.html.j2").render(
        generator=GENERATOR,
        created=_utc(now),
        studies=studies,
        count=sum(study.count for study in studies),
        regressions="".join(study.regressions for study in studies).strip(),
        states=sorted({state for study in studies for state in study.states}),
        tags=sorted({tag for study in studies for tag in study.tags}),
        css=Markup(static("report.css") + static("hub.css")),
        scripts=hub_scripts(),
        policy=hub_policy(),
    )  # fmt: skip


def _change(study: HubStudy) -> str:
    """The newest change point in words, "" if there is none."""
    found = study.change_points
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
    environment = templates()
    environment.globals |= {"utc": _utc, "tags_of": _tags}
    return environment
