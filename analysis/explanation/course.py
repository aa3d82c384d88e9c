"""`Course`: a trial second by second, as the rules of causes see it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
TRIM = 0.1  # of the seconds, at each end
NORMAL = 1.4826
"""Median absolute deviation to standard deviation, for normal data."""
IDLE = 0.1
"""Share of a usual load: below it, a mean or a share has too few values to mean anything."""
HOST = "host"
OPERATIONS = "ops/s"
LEAST_RATE = 0.05
TINY = 1e-9
STARTED = 0.05
"""Share of the highest rate of a job: less is its own files, before its first block and after its last."""
_NUMBER = re.compile(r"-?[0-9]+$")


class Place(NamedTuple):
    """A series: what was measured, and where. source: a disk, a CPU or a daemon of the host, or `host`."""

    quantity: str
    host: str
    source: str = HOST

    @property
    def words(self) -> str:
        if not self.host:
            return self.source
        return self.host if self.source == HOST else f"{self.source} on {self.host}"

    @property
    def role(self) -> str:
        """Equals have the same one: `regionserver` for w1/regionserver-2. Disks are equals, CPUs too."""
        name = self.source.rpartition("/")[2]
        return _NUMBER.sub("", name) if "/" in self.source else ("" if name == HOST else "part")


def touch(one: Place, other: Place, nodes: Container[str]) -> bool:
    """Whether what happens at one place may show at the other: they are of one host, and not of two nodes.
    What has no host may be anywhere. nodes: their names."""
    if one.host != other.host and one.host and other.host:
        return False
    names = [place.source.partition("/")[0] for place in (one, other)]
    of_nodes = {
        name
        for name, place in zip(names, (one, other), strict=True)
        if "/" in place.source or name in nodes
    }
    return len(of_nodes) < 2


@dataclass(frozen=True)
class Series:
    """What was sampled: a row of `values` per place, a column per second; NaN where it is not known."""

    places: tuple[Place, ...]
    values: Array

    @staticmethod
    def of(rows: Mapping[Place, Array], seconds: int) -> Series:
        values = np.full((len(rows), seconds), np.nan)
        for row, known in enumerate(rows.values()):
            values[row] = known
        return Series(tuple(rows), values)

    def loads(self, rows: Array, load: str) -> Array:
        """The row of the load of each row; -1 where it has none."""
        at = {self.places[row][1:]: row for row in self.rows.get(load, ())}
        return np.array([at.get(self.places[row][1:], -1) for row in rows], int)

    @cached_property
    def rows(self) -> Mapping[str, Array]:
        """The rows of each quantity."""
        found: dict[str, list[int]] = {}
        for row, place in enumerate(self.places):
            found.setdefault(place.quantity, []).append(row)
        return {quantity: np.array(rows) for quantity, rows in found.items()}

    @cached_property
    def means(self) -> Array:
        """Mean of each row over the whole trial; NaN where nothing is known."""
        return mean_of_rows(self.values)

    @cached_property
    def medians(self) -> Array:
        return median_of_rows(self.values)

    @cached_property
    def lasting_means(self) -> Array:
        """Mean of each row without its lowest and its highest tenth: a burst of some seconds, which may be
        hundreds of times what is usual, is nothing that lasts."""
        ordered = np.sort(self.values, axis=1)  # NaN last
        known = np.isfinite(ordered).sum(axis=1, keepdims=True)
        cut, place = (TRIM * known).astype(int), np.arange(ordered.shape[1])
        return mean_of_rows(np.where((place >= cut) & (place < known - cut), ordered, np.nan))


@dataclass(frozen=True)
class Happening:
    """An event of a daemon, in seconds after the window's start: `gc pause`, `safepoint`, `flush`,
    `compaction`."""

    kind: str
    source: str
    start_s: float
    end_s: float
    what: str


@dataclass(frozen=True)
class Spell:
    """Consecutive slow seconds [first, last], and how slow they were. `lost_s`: work that was not done, in
    seconds of the median rate. `core`: first and last second with a slow rate; the whole spell if there is
    none. After a stall, clients with a target rate work off what was due: its latencies are also long, but
    the cause is gone. `depth`: natural logarithm of how many times slower than the median second it was."""

    first: int
    last: int
    lost_s: float
    worst_ms: float | None
    what: str
    core: tuple[int, int]
    depth: float

    @property
    def length_s(self) -> int:
        return self.last - self.first + 1

    @property
    def words(self) -> str:
        one = self.first == self.last
        return f"second {self.first}" if one else f"seconds {self.first} to {self.last}"


@dataclass(frozen=True)
class Course:
    """Arrays have an element per second from `first` on; NaN where it is not known.

    rate: work a second, in `unit`. worst_ms: the longest operation; intended latency, if the trial has any.
    mean_ms: mean time of an operation. between: seconds in which few of a job's maps worked; empty: none.
    """

    first: int
    rate: Array
    worst_ms: Array
    events: tuple[Happening, ...] = ()
    series: Series = Series((), np.zeros((0, 0)))
    unit: str = OPERATIONS
    mean_ms: Array = field(default_factory=lambda: np.zeros(0))
    roles: Mapping[str, str] = field(default_factory=dict)
    """By host and by node; `worker` also where the node has other roles. Empty: unknown."""
    between: Mask = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def values(self) -> Array:
        """The values of its series: a column for each second, also for those without a value."""
        return self.series.values.reshape(len(self.series.places), len(self.rate))

    @cached_property
    def working(self) -> Mask:
        """The seconds whose rate counts. A job of TestDFSIO moves nothing while it starts and ends, nor
        between two waves of its maps; a client works from its first second on."""
        every = np.full(len(self.rate), True)
        if self.unit == OPERATIONS:
            return every
        moved = np.flatnonzero(self.rate > STARTED * np.max(self.rate, initial=0.0))
        if not len(moved):
            return every
        within = self.within(self.first + int(moved[0]), self.first + int(moved[-1]))
        return within & ~self.between if len(self.between) else within

    @property
    def seconds(self) -> range:
        return range(self.first, self.first + len(self.rate))

    def within(self, first: int, last: int) -> Mask:
        """Which elements are these seconds."""
        seconds = np.arange(self.first, self.first + len(self.rate))
        found: Mask = (seconds >= first) & (seconds <= last)
        return found

    def kind_of(self, place: Place) -> tuple[str, str]:
        """Equals have the same one. A daemon's does not depend on where it runs; a host, its disks and its
        nodes have the work of their role."""
        if "/" in place.source:
            return place.role, ""
        return place.role, self.roles.get(place.source, self.roles.get(place.host, ""))

    def usual(self, spells: Iterable[Spell]) -> Usual:
        """What its series are like in the seconds of no spell."""
        slow = np.zeros(len(self.rate), bool)
        for one in spells:
            slow |= self.within(one.first, one.last)
        return Usual.of(self.values, self.working & ~slow)


@dataclass(frozen=True)
class Usual:
    """`seconds`: which are in no spell. For each row of the series its median and robust standard deviation
    in them; NaN without a value."""

    seconds: Mask
    centre: Array
    spread: Array

    @staticmethod
    def of(values: Array, seconds: Mask) -> Usual:
        if not len(values):
            return Usual(seconds, np.zeros(0), np.zeros(0))
        among = values[:, seconds]
        centre = median_of_rows(among)
        spread = NORMAL * median_of_rows(np.abs(among - centre[:, None]))
        return Usual(seconds, centre, spread)


def centre_and_spread(values: Array) -> tuple[float, float]:
    """Median, and standard deviation by the median absolute deviation; NaN without values."""
    known = values[np.isfinite(values)]
    if not len(known):
        return float("nan"), float("nan")
    centre: Any = np.median(known)
    return float(centre), float(NORMAL * np.median(np.abs(known - centre)))


def without_gaps(values: Array) -> Array:
    """A second without a sample has the value of the one before: the counter went on."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return values
    at = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    filled: Array = values[known[np.maximum(at, 0)]]
    return filled


def deepest(usual_rate: float, rate: float, worst_ms: float, usual_ms: float) -> float:
    """Natural logarithm of how many times slower, by the rate or by the longest operation: the larger one. A
    rate of nothing counts as LEAST_RATE of the usual one. An unknown one does not count."""
    times = (usual_rate / max(rate, LEAST_RATE * usual_rate, TINY), worst_ms / max(usual_ms, TINY))
    return float(np.log(max((one for one in times if np.isfinite(one)), default=1.0)))


def median_of_rows(values: Array) -> Array:
    """NaN for a row without a value. A sort puts NaN last: ten times as fast as nanmedian."""
    ordered = np.sort(values, axis=1)
    known = np.isfinite(values).sum(axis=1)
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    rows = np.arange(len(values))
    low, high = np.maximum(known - 1, 0) // 2, known // 2
    middle: Array = (ordered[rows, low] + ordered[rows, np.minimum(high, values.shape[1] - 1)]) / 2
    return np.where(known > 0, middle, np.nan)


def mean_of_rows(values: Array) -> Array:
    """NaN for a row without a value."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_of_windows(values: Array, length: int, most: int) -> Array:
    """Means of each row over windows of `length` columns: a column per window, at most `most` of them, evenly
    spread. NaN for a window without a value."""
    count = values.shape[1] - length + 1
    if count < 1:
        return np.zeros((len(values), 0))
    first = np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
    known = np.isfinite(values)
    sums, counts = (_windows(one, first, length) for one in (np.where(known, values, 0.0), known))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _windows(values: Array, first: Array, length: int) -> Array:
    """Sums over [first, first + length) of each row."""
    total = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
    sums: Array = total[:, first + length] - total[:, first]
    return sums


def share_of_seconds(events: Iterable[Happening], seconds: range) -> Array:
    """For each second, the share in which one of the events ran."""
    knots, covered = [float(seconds.start) - 1.0], [0.0]
    for one in sorted(events, key=lambda event: event.start_s):
        start_s = max(one.start_s, knots[-1])
        if one.end_s > start_s:
            knots += [start_s, one.end_s]
            covered += [covered[-1], covered[-1] + one.end_s - start_s]
    edges = np.arange(seconds.start, seconds.stop + 1)
    return np.diff(np.interp(edges, knots, covered))
