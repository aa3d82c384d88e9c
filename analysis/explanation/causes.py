"""What moved with a slow spell: one rule per cause, each with its evidence in a sentence.

A cause is named only if it was large in the spell, and unlike the trial's other seconds. Its numbers are
what a rule needs, not what a reader might find plausible; if none holds, `moved` tells what moved most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from density_study.analysis.explanation.course import (
    Array,
    Course,
    Happening,
    Spell,
    centre_and_spread,
)

BEFORE_S = 1.0  # a stall shows up to a second later: an operation is counted when it ends
PAUSE_MS = 100.0  # shorter pauses do not make a second slow
PAUSE_SHARE = 0.4  # of what the spell lost, or of its longest operation, that the pauses last
PAUSED_TIME = 0.2  # of the spell itself
UNUSUAL = 3.0  # times the trial's other seconds
ACTIVE_SHARE = 0.5  # of the spell in which a flush or a compaction ran
USUAL_ACTIVITY = 0.3  # share of the other seconds beyond which such an activity is no news
SPREADS = 5.0
MAX_SHOWN = 2  # sources in a sentence


@dataclass(frozen=True)
class Cause:
    """kind: gc pause, safepoint, compaction, flush, disk, cpu, other programs, steal or network."""

    kind: str
    evidence: str


@dataclass(frozen=True)
class Moved:
    """A quantity that moves with a cause: it must rise by `least` above its median in the other seconds,
    and reach `factor` times that."""

    quantity: str
    words: str
    unit: str
    least: float
    factor: float = 1.0


DISK = (
    Moved("iowait", "iowait", "%", 25.0),
    Moved("io_stall", "time in which tasks waited for I/O", "%", 35.0),
    Moved("read_await", "mean time of a read", "ms", 20.0, 5.0),
    Moved("write_await", "mean time of a write", "ms", 50.0, 5.0),
)
OTHERS = (Moved("other_programs", "CPU of programs that are not the study's", "%", 25.0, 2.0),)
STEAL = (Moved("steal", "CPU that the hypervisor gave to others", "%", 15.0, 2.0),)
CPU = (Moved("cpu_used", "CPU use", "%", 25.0, 1.25),)
NETWORK = (Moved("retransmitted", "TCP segments sent again", "1/s", 20.0, 10.0),)


Usual = np.typing.NDArray[np.bool_]
Rule = Callable[[Course, Spell, Usual], Iterator[Cause]]


def causes(course: Course, spell: Spell, spells: Iterable[Spell]) -> tuple[Cause, ...]:
    """The causes whose rules hold, the most direct one first. spells: all of the trial, whose seconds do not
    count as usual."""
    usual = usual_seconds(course, spells)
    return tuple(cause for rule in RULES for cause in rule(course, spell, usual))


def usual_seconds(course: Course, spells: Iterable[Spell]) -> Usual:
    """Which seconds lie in no spell."""
    slow = np.zeros(len(course.rate), bool)
    for one in spells:
        slow |= course.within(one.first, one.last)
    return ~slow


def _pauses(course: Course, spell: Spell, usual: Usual) -> Iterator[Cause]:
    """Threads of a daemon stood still for a large part of what the spell lost."""
    found = []
    for source in sorted({event.source for event in course.events}):
        pauses = [
            event
            for event in course.events
            if event.source == source and event.kind in ("gc pause", "safepoint")
        ]
        first, last = spell.core
        in_spell = clipped(pauses, first - BEFORE_S, last + 1)
        paused_s = covered_s(in_spell)
        elsewhere = covered_s(clipped(pauses, course.first, course.first + len(course.rate)))
        others_s = max(0.0, elsewhere - paused_s) / max(1, int(usual.sum()))
        lasted_s = last + 1 - first + BEFORE_S
        worst_s = (spell.worst_ms or 0.0) / 1000
        enough = paused_s >= max(
            PAUSE_SHARE * max(spell.lost_s, worst_s),
            PAUSED_TIME * (last + 1 - first),
        )
        if 1000 * paused_s >= PAUSE_MS and enough and paused_s > UNUSUAL * others_s * lasted_s:
            found.append((paused_s, source, max(in_spell, key=lambda one: one.end_s - one.start_s)))
    for paused_s, source, longest in sorted(found, key=lambda one: -one[0])[:1]:
        why = "for GC" if longest.kind == "gc pause" else "at a safepoint"
        yield Cause(
            longest.kind,
            f"{source} paused {1000 * paused_s:,.0f} ms {why} ({longest.what}) at {longest.start_s:.1f} s",
        )


def _activity(kind: str) -> Rule:
    """A rule for a flush or a compaction that ran in most of the spell, and seldom elsewhere."""

    def rule(course: Course, spell: Spell, usual: Usual) -> Iterator[Cause]:
        events = [event for event in course.events if event.kind == kind]
        first, last = spell.core
        in_spell = clipped(events, first, last + 1)
        if covered_s(in_spell) < ACTIVE_SHARE * (last + 1 - first):
            return
        active = np.array([bool(clipped(events, s, s + 1)) for s in course.seconds])
        if usual.any() and active[usual].mean() > USUAL_ACTIVITY:
            return
        told = [
            f"{event.source} ({event.what}, until {event.end_s:.0f} s)"
            for event in sorted(events, key=lambda one: one.start_s - one.end_s)
            if clipped([event], first, last + 1)
        ]
        yield Cause(kind, f"{kind} on {_several(told)}")

    return rule


def _moved(kind: str, moved: tuple[Moved, ...]) -> Rule:
    """A rule for quantities that were far above their usual values in the spell."""

    def rule(course: Course, spell: Spell, usual: Usual) -> Iterator[Cause]:
        told = []
        for one in moved:
            for where, values in course.measured(one.quantity):
                value, centre = _rise(values, course.within(*spell.core), usual, one)
                if value is not None:
                    told.append(
                        f"{one.words} of {where} {value:,.0f} {one.unit}, {centre:,.0f} {one.unit} in the "
                        "median second"
                    )
        if told:
            yield Cause(kind, _several(told))

    return rule


RULES: tuple[Rule, ...] = (
    _pauses,
    _activity("compaction"),
    _activity("flush"),
    _moved("steal", STEAL),
    _moved("other programs", OTHERS),
    _moved("disk", DISK),
    _moved("network", NETWORK),
    _moved("cpu", CPU),
)


def _rise(values: Array, spell: Usual, usual: Usual, moved: Moved) -> tuple[float | None, float]:
    """The mean in the spell if it is far above the usual seconds, and their median."""
    centre, spread = centre_and_spread(values[usual])
    inside = values[spell & np.isfinite(values)]
    if not len(inside) or not np.isfinite(centre):
        return None, centre
    value = float(inside.mean())
    least = max(centre + moved.least, moved.factor * centre, centre + SPREADS * spread)
    return (value if value > least else None), centre


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


def _several(told: list[str]) -> str:
    more = len(told) - MAX_SHOWN
    return ", ".join(told[:MAX_SHOWN]) + (f", and {more} more" if more > 0 else "")
