"""What moved with a slow spell: the rules that hold in its seconds, against the trial's other seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from density_study.analysis.explanation.causes import Cause, held, judged, ranked, strongest
from density_study.analysis.explanation.chance import Windows, coincidences
from density_study.analysis.explanation.course import (
    Course,
    Happening,
    Place,
    Spell,
    Usual,
    mean_of_rows,
)
from density_study.analysis.explanation.rules import rules

BEFORE_S = 1.0  # a stall shows up to a second later: an operation is counted when it ends
PAUSE_MS = 100.0  # shorter pauses do not make a second slow
PAUSE_SHARE = 0.4  # of what the spell lost, or of its longest operation, that the pauses last
PAUSED_TIME = 0.2  # of the spell itself
UNUSUAL = 3.0  # times the trial's other seconds
AMONG = "in the median second"
PAUSES = ("gc pause", "safepoint")


def causes(
    course: Course, spell: Spell, usual: Usual, windows: Windows, spells: int
) -> tuple[Cause, ...]:
    """The causes whose rules hold, and not by coincidence; the most specific one first. windows: those of the
    trials of its test case. spells: how many the trial has."""
    core = course.within(*spell.core)
    value = mean_of_rows(course.values[:, core])
    signs = list(judged(course.series, "spell", value[:, None], usual.centre, usual.spread))
    here = {rule: float(margin[0]) for rule, margin in strongest(signs, 1).items()}
    by_chance = coincidences(here, windows.of(spell.core[1] - spell.core[0] + 1), spells)
    lost = spell.lost_s / spell.length_s
    found = held(course.series, signs, by_chance, value, usual.centre, AMONG, lost)
    return ranked((*_pauses(course, spell, usual), *found), course.roles)


def _pauses(course: Course, spell: Spell, usual: Usual) -> Iterator[Cause]:
    """Threads of a daemon stood still for a large part of what the spell lost."""
    by_event = {rule.event: rule for rule in rules().values() if rule.event}
    found = []
    for source in sorted({event.source for event in course.events}):
        pauses = [e for e in course.events if e.source == source and e.kind in PAUSES]
        first, last = spell.core
        in_spell = clipped(pauses, first - BEFORE_S, last + 1)
        paused_s = covered_s(in_spell)
        elsewhere = covered_s(clipped(pauses, course.first, course.first + len(course.rate)))
        others_s = max(0.0, elsewhere - paused_s) / max(1, int(usual.seconds.sum()))
        lasted_s = last + 1 - first + BEFORE_S
        worst_s = (spell.worst_ms or 0.0) / 1000
        enough = paused_s >= max(
            PAUSE_SHARE * max(spell.lost_s, worst_s), PAUSED_TIME * (last + 1 - first)
        )
        if 1000 * paused_s >= PAUSE_MS and enough and paused_s > UNUSUAL * others_s * lasted_s:
            found.append((paused_s, source, max(in_spell, key=lambda one: one.end_s - one.start_s)))
    for paused_s, source, longest in sorted(found, key=lambda one: -one[0])[:1]:
        evidence = f"{1000 * paused_s:,.0f} ms, {longest.what}, at {longest.start_s:.1f} s"
        yield Cause(by_event[longest.kind], (Place(longest.kind, "", source),), evidence)


def clipped(events: Iterable[Happening], start_s: float, end_s: float) -> list[Happening]:
    """The parts of events within [start_s, end_s)."""
    return [
        Happening(one.kind, one.source, max(one.start_s, start_s), min(one.end_s, end_s), one.what)
        for one in events
        if one.end_s > start_s and one.start_s < end_s
    ]


def covered_s(events: Iterable[Happening]) -> float:
    """Length of the union: a collection within a safepoint counts once."""
    total_s, until_s = 0.0, -np.inf
    for one in sorted(events, key=lambda event: event.start_s):
        total_s += max(0.0, one.end_s - max(one.start_s, until_s))
        until_s = max(until_s, one.end_s)
    return float(total_s)
