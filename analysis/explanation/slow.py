"""Slow seconds: the rule, fixed before the data.

A second is slow if its rate lies FEWER of the median and SPREADS robust standard deviations below it (or if
it STALLED, whatever the spread), or if its longest operation took LONGER times the median second's,
SPREADS_LOG standard deviations on the logarithmic scale, and more than LEAST_MS.

Median and median absolute deviation are not moved by the slow seconds themselves (Leys et al., J. Exp. Soc.
Psychol. 49, 2013, who advise 2.5 to 3 of them). A trial has hundreds of seconds, so the rate takes 4: one
second in 30,000 of a normal rate. Its deviation is that of the seconds below the median: those in which
clients catch up say nothing about how far it falls. The longest operation of a second is noisy as it is, and
on a busy machine a stall of half a second lies 3 above its median; a second that is found slow by chance
finds no cause.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from density_study.analysis.explanation.course import (
    NORMAL,
    Course,
    Spell,
    centre_and_spread,
    deepest,
)

SPREADS = 4.0
SPREADS_LOG = 2.5
FEWER = 0.3  # of the median rate: less is no event that a reader looks for
STALLED = 0.8  # below the median: hardly anything is done
LONGER = 3.0
LEAST_MS = 100.0
LEAST_SECONDS = 10  # fewer have no median to speak of
MOST_SPELLS = 20  # of a trial; the worst ones


def slow_spells(course: Course) -> tuple[Spell, ...]:
    """The trial's slow seconds, neighbours together, in the order of time; at most MOST_SPELLS, the
    worst."""
    if course.working.sum() < LEAST_SECONDS:
        return ()
    slow = (_by_rate(course) | _by_latency(course)) & course.working
    spells = [_spell(course, first, last) for first, last in _runs(slow)]
    worst = sorted(spells, key=lambda one: (one.lost_s, one.worst_ms or 0.0), reverse=True)
    return tuple(sorted(worst[:MOST_SPELLS], key=lambda one: one.first))


def _by_rate(course: Course) -> npt.NDArray[np.bool_]:
    centre, _ = centre_and_spread(course.rate[course.working])
    below = centre - course.rate
    spread = NORMAL * float(np.median(below[course.working & (below >= 0)]))
    found: npt.NDArray[np.bool_] = (below > FEWER * centre) & (
        (below > SPREADS * spread) | (below > STALLED * centre)
    )
    return found


def _by_latency(course: Course) -> npt.NDArray[np.bool_]:
    known = np.where(course.worst_ms > 0, course.worst_ms, np.nan)
    logarithm = np.log(known)
    centre, spread = centre_and_spread(logarithm)
    with np.errstate(invalid="ignore"):
        above = logarithm - centre
        found: npt.NDArray[np.bool_] = (
            (above > np.log(LONGER)) & (above > SPREADS_LOG * spread) & (known > LEAST_MS)
        )
    return found


def _runs(slow: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index of each run of true elements."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], slow.astype(int), [0]))))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _spell(course: Course, first: int, last: int) -> Spell:
    usual, _ = centre_and_spread(course.rate[course.working])
    rate = course.rate[first : last + 1]
    worst = course.worst_ms[first : last + 1]
    worst_ms = float(np.nanmax(worst)) if np.isfinite(worst).any() else None
    mean = float(np.mean(rate))
    lost_s = float(np.maximum(usual - rate, 0.0).sum() / usual) if usual > 0 else 0.0
    parts = []
    if usual > 0 and mean < (1 - FEWER) * usual:
        parts.append(
            f"rate {100 * (1 - mean / usual):.0f} % below the median ({mean:,.0f} of {usual:,.0f} "
            f"{course.unit})"
        )
    usual_ms, _ = centre_and_spread(course.worst_ms)
    if worst_ms is not None:
        parts.append(
            f"longest operation {worst_ms:,.0f} ms, {usual_ms:,.0f} ms in the median second"
        )
    few = [at for at in range(first, last + 1) if course.rate[at] < (1 - FEWER) * usual]
    core = (few[0], few[-1]) if few else (first, last)
    return Spell(
        first=course.first + first,
        last=course.first + last,
        lost_s=lost_s,
        worst_ms=worst_ms,
        what="; ".join(parts),
        core=(course.first + core[0], course.first + core[1]),
        depth=deepest(usual, mean, float("nan") if worst_ms is None else worst_ms, usual_ms),
    )
