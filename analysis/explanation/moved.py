"""What moved most with a slow spell that no rule explains, over every series that was sampled.

Rules look at a few quantities; a trial has hundreds. A quantity moved if its mean in the spell lies SPREADS
robust standard deviations from its median in the other seconds, up or down. A series that is usually
constant has no deviation, so a share of its median, and one unit of it, count as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from density_study.analysis.explanation.causes import Usual, clipped, covered_s
from density_study.analysis.explanation.course import Array, Course, Spell, centre_and_spread
from density_study.analysis.summary.numbers import digits
from density_study.workloads.monitors.devices import devices

SPREADS = 4.0
SHARE = 0.02  # of the median
MOST = 3  # told in a sentence
NO_RULE = "No rule held"
_OWN = {
    "iowait": "iowait",
    "steal": "CPU that the hypervisor gave to others",
    "cpu_used": "CPU use",
    "other_programs": "CPU of programs that are not the study's",
    "disk_read": "bytes read from disks",
    "disk_write": "bytes written to disks",
}
_OWN_UNITS = {"disk_read": "MiB/s", "disk_write": "MiB/s"}
_SIGNS = {"percent": "%", "count": ""}


@dataclass(frozen=True)
class Movement:
    """`score`: how many spreads the spell lies from the usual seconds."""

    words: str
    where: str
    unit: str
    value: float
    usual: float
    score: float

    def __str__(self) -> str:
        value, usual = (f"{digits(one)} {self.unit}".rstrip() for one in (self.value, self.usual))
        return f"{self.words} of {self.where} {value}, {usual} in the median second"


def no_rule(course: Course, spell: Spell, usual: Usual) -> str:
    """The end of the sentence about a spell for which no rule holds."""
    moved = sorted(movements(course, spell, usual), key=lambda one: -one.score)
    if not moved:
        return f"{NO_RULE}, and nothing was sampled with it"
    told = [str(one) for one in moved if one.score >= SPREADS]
    if not told:
        counted = f"{len(moved)} sampled series" if len(moved) > 1 else "the only sampled series"
        return f"{NO_RULE}; all of {counted} stayed in their usual range"
    more = f"; and {len(told) - MOST} more" if len(told) > MOST else ""
    return f"{NO_RULE}. Moved most: {'; '.join(told[:MOST])}{more}"


def movements(course: Course, spell: Spell, usual: Usual) -> Iterator[Movement]:
    """Of every series that has values both in the spell and outside it."""
    named = _named()
    inside = course.within(*spell.core)
    for quantity, by_place in (*course.series.items(), *_shares(course).items()):
        words, unit = named.get(quantity, (quantity, "percent"))
        for where, values in by_place.items():
            known = values[inside & np.isfinite(values)]
            centre, spread = centre_and_spread(values[usual])
            if not len(known) or not np.isfinite(centre):
                continue
            value = float(known.mean())
            score = abs(value - centre) / (spread + SHARE * abs(centre) + 1.0 / SPREADS)
            yield Movement(words, where, _SIGNS.get(unit, unit), value, centre, score)


def _named() -> Mapping[str, tuple[str, str]]:
    """Words and unit of each quantity."""
    of_devices = {
        metric.name: (metric.label, metric.unit)
        for device in devices().values()
        for metric in device.metrics
    }
    own = {name: (words, _OWN_UNITS.get(name, "percent")) for name, words in _OWN.items()}
    return of_devices | own


def _shares(course: Course) -> Mapping[str, Mapping[str, Array]]:
    """Of each second, the share in which a daemon paused, flushed or compacted."""
    found: dict[str, dict[str, Array]] = {}
    for kind, source in sorted({(event.kind, event.source) for event in course.events}):
        same = [e for e in course.events if (e.kind, e.source) == (kind, source)]
        shares = [100 * covered_s(clipped(same, second, second + 1)) for second in course.seconds]
        found.setdefault(f"time in a {kind}", {})[source] = np.array(shares)
    return found
