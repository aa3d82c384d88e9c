"""What daemons themselves show of the time in which something was slow: thread dumps, slow calls, findings
of Flight Recorder's rules. It names no cause: it makes the evidence of one, and of a spell without one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, groupby

from density_study.analysis.explanation.causes import Cause
from density_study.analysis.explanation.course import Course, Happening, Place, Spell, touch
from density_study.analysis.explanation.spells import BEFORE_S
from density_study.cluster.model.plain import counted
from density_study.workloads.monitors.daemons import flight, slow_log, stalls

OFTEN = 0.5
"""In all slow calls: a row of that share is worth its name."""


def with_testimony(
    causes: Sequence[Cause], course: Course, spell: Spell | None
) -> tuple[Cause, ...]:
    """The causes; each thing that was seen is evidence of the first one that is where it was. spell: None
    for the whole trial."""
    left, found = _within(course, spell), []
    for cause in causes:
        is_here = [
            any(
                touch(place, Place(one.kind, "", one.source), course.roles)
                for place in cause.places
            )
            for one in left
        ]
        texts = _texts(list(compress(left, is_here)))
        left = [one for one, here in zip(left, is_here, strict=True) if not here]
        found.append(replace(cause, evidence="; ".join((cause.evidence, *texts))))
    return tuple(found)


def testimony(course: Course, spell: Spell) -> str:
    """All that was seen in the spell, for people; empty if nothing was."""
    return "; ".join(_texts(_within(course, spell)))


def _within(course: Course, spell: Spell | None) -> list[Happening]:
    seen = [one for one in course.events if one.kind in _WORDS]
    if spell is None:
        return seen
    first_s, end_s = spell.first - BEFORE_S, spell.last + 1
    return [one for one in seen if one.end_s > first_s and one.start_s < end_s]


def _texts(events: Iterable[Happening]) -> Iterator[str]:
    ordered = sorted(events, key=lambda one: (list(_WORDS).index(one.kind), one.source))
    for kind, of_kind in groupby(ordered, key=lambda one: one.kind):
        yield _WORDS[kind](list(of_kind))


def _of_stalls(events: Sequence[Happening]) -> str:
    longest = max(events, key=lambda one: one.end_s - one.start_s)
    more = f", and {counted(len(events) - 1, 'more stall')}" if len(events) > 1 else ""
    return f"{longest.source} stood still for {longest.end_s - longest.start_s:.1f} s: {longest.what}{more}"


def _of_slow_calls(events: Sequence[Happening]) -> str:
    parts = [one.what.partition(slow_log.ROW) for one in events]
    ((call, count),) = Counter(head for head, _, _ in parts).most_common(1)
    rows = Counter(row for head, _, row in parts if row and head == call)
    row, of_row = rows.most_common(1)[0] if rows else ("", 0)
    if len(events) == 1:
        return f"a slow call: {call}"
    hot = f", {of_row} for row {row}" if of_row >= OFTEN * len(events) else ""
    return f"{len(events)} slow calls, {count} of them {call}{hot}"


def _of_flight(events: Sequence[Happening]) -> str:
    """The first one of a daemon has the highest score."""
    return f"Flight Recorder of {events[0].source}: {events[0].what}"


_WORDS: Mapping[str, Callable[[Sequence[Happening]], str]] = {
    stalls.KIND: _of_stalls,
    slow_log.KIND: _of_slow_calls,
    flight.KIND: _of_flight,
}
