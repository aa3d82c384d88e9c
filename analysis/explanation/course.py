"""`Course`: a trial second by second, as the rules of slow seconds see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
NORMAL = 1.4826
"""Median absolute deviation to standard deviation, for normal data."""


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
    none. After a stall, clients with a target rate work off what was due: its latencies are long, too, but
    the cause is gone."""

    first: int
    last: int
    lost_s: float
    worst_ms: float | None
    what: str
    core: tuple[int, int]

    @property
    def words(self) -> str:
        one = self.first == self.last
        return f"second {self.first}" if one else f"seconds {self.first} to {self.last}"


@dataclass(frozen=True)
class Course:
    """Arrays have an element per second from `first` on; NaN where it is not known.

    rate: operations a second. worst_ms: the longest operation; intended latency, if the trial has any.
    series: by quantity (`iowait`, `io_stall`, `read_await`, ...), then by where it was measured.
    """

    first: int
    rate: Array
    worst_ms: Array
    events: tuple[Happening, ...] = ()
    series: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)

    @property
    def seconds(self) -> range:
        return range(self.first, self.first + len(self.rate))

    def within(self, first: int, last: int) -> npt.NDArray[np.bool_]:
        """Which elements are these seconds."""
        seconds = np.arange(self.first, self.first + len(self.rate))
        found: npt.NDArray[np.bool_] = (seconds >= first) & (seconds <= last)
        return found

    def measured(self, quantity: str) -> Iterator[tuple[str, Array]]:
        yield from self.series.get(quantity, {}).items()


def centre_and_spread(values: Array) -> tuple[float, float]:
    """Median, and standard deviation by the median absolute deviation; NaN without values."""
    known = values[np.isfinite(values)]
    if not len(known):
        return float("nan"), float("nan")
    centre: Any = np.median(known)
    return float(centre), float(NORMAL * np.median(np.abs(known - centre)))
