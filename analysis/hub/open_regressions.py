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
    """A number of a study. `found` is the newest run that showed it, `then` its ratio to the runs before,
    `now` that of the newest run to the same runs; "" where it is not known. `unseen`: how many compared runs
    followed, which do not show it: they may have been compared with slower ones."""

    study: str
    subject: str
    found: HubRun
    then: str
    now: str
    known: Known | None
    unseen: int = 0

    @property
    def ticket_link(self) -> str:
        """The ticket's address, "" if it is only a name."""
        ticket = self.known.ticket if self.known else ""
        return ticket if ticket.startswith(("https://", "http://")) else ""


def open_regressions(study: HubStudy, acknowledged: Acknowledged) -> Iterator[OpenRegression]:
    """Yield the regressions that nobody has acknowledged, then those that are acknowledged with an owner or a
    ticket."""
    compared = [run for run in study.runs if run.compared]
    shown = {
        change.finding.id: (change.finding, run, len(compared) - at)
        for at, run in enumerate(compared, start=1)
        for change in run.regressions
    }
    for name, (found, run, unseen) in shown.items():
        if acknowledged.since(name) < run.facts.run:
            then, now, number = _ratios(study, run, name, found.effect)
            words = _words(number) or f"{found.subject}, {found.among}: {found.measure}"
            yield OpenRegression(study.name, words, run, then, now, None, unseen)
    by_id = {run.facts.run: run for run in study.runs}
    for known in acknowledged.known:
        if known.is_open and known.run in by_id:
            run = by_id[known.run]
            then, now, number = _ratios(study, run, known.number, known.effect)
            words = _words(number) or known.number
            yield OpenRegression(study.name, words, run, then, now, known)


def _ratios(
    study: HubStudy, found: HubRun, name: str, effect: float | None
) -> tuple[str, str, Number | None]:
    """When it was found and in the newest run, to the runs before it; and the number as the newest run has
    it."""
    number = _in_newest(study, found, name)
    then = ratio(effect) if effect else ""
    if number is None or not effect or found.facts.run not in number.course.runs:
        return then, "", number
    change = number.course.levels[-1] - number.course.levels[0]
    return then, ratio(effect * exp(-change if number.family == "latencies" else change)), number


def _in_newest(study: HubStudy, found: HubRun, name: str) -> Number | None:
    """The number in the newest analysed run, with that of the run that showed the regression."""
    if found.summary is None:
        return None
    newest = study.analysed[-1]
    earlier = () if newest is found.summary else (found.summary,)
    keys = (
        (entry.test_case, entry.topology)
        for entry in newest.test_cases
        if name in [number_id(family, entry) for family in FAMILIES]
    )
    every = (one for key in keys for one in numbers(key, earlier, newest, NOTHING))
    return next((one for one in every if one.id == name), None)


def _words(number: Number | None) -> str:
    return f"{number.entry.label}, {number.entry.topology}: {number.measure}" if number else ""
