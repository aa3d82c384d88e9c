"""What moved with a slow spell: the rules that hold in its seconds, against the trial's other seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from density_study.analysis.explanation.causes import Cause, held, ranked
from density_study.analysis.explanation.course import (
    Array,
    Course,
    Happening,
    Spell,
    Usual,
    mean_of_rows,
)
from density_study.analysis.explanation.rules import Rule, rules
from density_study.analysis.explanation.words import several

BEFORE_S = 1.0  # a stall shows up to a second later: an operation is counted when it ends
PAUSE_MS = 100.0  # shorter pauses do not make a second slow
PAUSE_SHARE = 0.4  # of what the spell lost, or of its longest operation, that the pauses last
PAUSED_TIME = 0.2  # of the spell itself
UNUSUAL = 3.0  # times the trial's other seconds
ACTIVE_SHARE = 0.5  # of the spell in which a flush or a compaction ran
USUAL_ACTIVITY = 0.3  # share of the other seconds beyond which such an activity is no news
AMONG = "in the median second"
PAUSES = ("gc pause", "safepoint")


def causes(course: Course, spell: Spell, usual: Usual) -> tuple[Cause, ...]:
    """The causes whose rules hold, the most specific one first."""
    core = course.within(*spell.core)
    value = mean_of_rows(course.values[:, core])
    found = [*_pauses(course, spell, usual)]
    for rule in rules().values():
        if rule.event and rule.event not in PAUSES:
            found += _activity(rule, course, spell, usual)
    found += held(course.series, "spell", value, usual.centre, usual.spread, AMONG)
    return ranked(found)


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
        yield Cause(by_event[longest.kind], source, evidence)


def _activity(rule: Rule, course: Course, spell: Spell, usual: Usual) -> Iterator[Cause]:
    """A flush or a compaction that ran in most of the spell, and seldom elsewhere."""
    events = [event for event in course.events if event.kind == rule.event]
    first, last = spell.core
    if covered_s(clipped(events, first, last + 1)) < ACTIVE_SHARE * (last + 1 - first):
        return
    active = course_share(course, events) > 0
    if usual.seconds.any() and active[usual.seconds].mean() > USUAL_ACTIVITY:
        return
    within = [
        event
        for event in sorted(events, key=lambda one: one.start_s - one.end_s)
        if clipped([event], first, last + 1)
    ]
    texts = [f"{one.source}: {one.what}, until {one.end_s:.0f} s" for one in within]
    yield Cause(rule, within[0].source, several(texts))


def course_share(course: Course, events: Sequence[Happening]) -> Array:
    """The share of each second in which one of the events ran."""
    knots, covered = [float(course.first) - 1.0], [0.0]
    for one in sorted(events, key=lambda event: event.start_s):
        start_s = max(one.start_s, knots[-1])
        if one.end_s > start_s:
            knots += [start_s, one.end_s]
            covered += [covered[-1], covered[-1] + one.end_s - start_s]
    edges = np.arange(course.first, course.first + len(course.rate) + 1)
    return np.diff(np.interp(edges, knots, covered))


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
