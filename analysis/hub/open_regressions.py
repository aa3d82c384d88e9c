"""`open_regressions`: what got slower and nobody has accepted or mended yet, for the results hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

from density_study.analysis.comparison.acknowledged import NOTHING, Acknowledged, Known
from density_study.analysis.comparison.numbers import FAMILIES, Number, number_id, numbers
from density_study.analysis.hub.results import HubRun, HubStudy
from density_study.analysis.report.charts.quantity import ratio


@dataclass(frozen=True)
class OpenRegression:
    """A number of a study. `found` is the run that showed it, `then` its ratio to the runs before, `now` that
    of the newest run to the same runs; "" where it is not known."""

    study: str
    subject: str
    found: HubRun
    then: str
    now: str
    known: Known | None

    @property
    def ticket_link(self) -> str:
        """The ticket's address, "" if it is only a name."""
        ticket = self.known.ticket if self.known else ""
        return ticket if ticket.startswith(("https://", "http://")) else ""


def open_regressions(study: HubStudy, acknowledged: Acknowledged) -> Iterator[OpenRegression]:
    """Those that the newest compared run shows and nobody has acknowledged, then the acknowledged ones
    with an owner or a ticket."""
    compared = [run for run in study.runs if run.compared]
    accepted = {(one.number, one.run) for one in acknowledged.known}
    for run in compared[-1:]:
        for change in run.regressions:
            found = change.finding
            if (found.id, run.facts.run) not in accepted:
                subject = f"{found.subject}, {found.among}: {found.measure}"
                then = ratio(found.effect)
                yield OpenRegression(study.name, subject, run, then, then, None)
    by_id = {run.facts.run: run for run in study.runs}
    for known in acknowledged.known:
        if known.is_open and known.run in by_id:
            run = by_id[known.run]
            number = _in_newest(study, run, known)
            subject = (
                f"{number.entry.label}, {number.entry.topology}: {number.measure}"
                if number
                else known.number
            )
            then = ratio(known.effect) if known.effect else ""
            yield OpenRegression(study.name, subject, run, then, _now(number, known), known)


def _in_newest(study: HubStudy, found: HubRun, known: Known) -> Number | None:
    """The number in the newest analysed run, with that of the run that showed the regression."""
    if found.summary is None:
        return None
    newest = study.analysed[-1]
    earlier = () if newest is found.summary else (found.summary,)
    keys = (
        (entry.test_case, entry.topology)
        for entry in newest.test_cases
        if known.number in [number_id(family, entry) for family in FAMILIES]
    )
    every = (one for key in keys for one in numbers(key, earlier, newest, NOTHING))
    return next((one for one in every if one.id == known.number), None)


def _now(number: Number | None, known: Known) -> str:
    if number is None or known.effect is None or known.run not in number.course.runs:
        return ""
    change = number.course.levels[-1] - number.course.levels[0]
    return ratio(known.effect * exp(-change if number.family == "latencies" else change))
