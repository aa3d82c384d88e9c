"""A search for the highest load that keeps its limits: what it looks for, its probes, and the rule by which
each probe follows from those before. Pure.

A load is a rate in operations per second, or a number of threads. The rule:

1. Double the load until a probe is rejected; halve it while none has been kept.
2. Then probe the geometric mean of the highest load kept and the lowest load rejected.
3. Measure longer after each rejection: near the limit, chance decides a short window.
4. Measure again what the first length of window decided, once the search comes near it: servers may not have
   warmed up, and a queue may not have grown. Then continue near it, upwards or downwards.
5. End when both are one step apart, and the answer was kept in the longest window. Or with the last probe.

Doubling finds the scale in a few probes, wherever the first one starts, and the mean then halves the distance
of the logarithms. Source: `findmax` of NoSQLBench, which also steps back on a rejection and measures longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from pydantic import Field

from density_study.workloads.base.values import Frozen

_LONGER = 1.5
_ONWARD = 1.25  # factor of the load once a rejection did not last: the scale is known by then
_NEAR = 1.1
"""Ratio of loads between which chance or a short window may decide."""
LONGEST = 2.0
"""Most times the length of a first probe that a later one measures."""


class LatencyLimit(Frozen):
    """The percentile of an operation's intended latency that a kept load does not exceed."""

    operation: str
    percentile: float
    ms: float

    def __str__(self) -> str:
        return f"{self.operation} p{self.percentile:g} <= {self.ms:g} ms"


class Search(Frozen):
    """What is searched for on each build. Either a rate that keeps `limits` and `cpu_percent`, or with
    `gain_percent` the number of threads beyond which twice as many gain less than this.

    The first rate is start_ops_s, or start_percent of the saturation measured on the same build.
    """

    limits: tuple[LatencyLimit, ...] = ()
    cpu_percent: float | None = Field(None, description="most CPU used on the cluster's hosts")
    gain_percent: float | None = Field(None, description="least gain of twice the threads")
    start_percent: float | None = None
    start_ops_s: float | None = None
    start_threads: int | None = None
    step_percent: float = Field(3.0, description="distance of the answer to the next load rejected")
    probes: int = Field(12, description="most probes")
    duration_s: float = Field(description="length of the first probes in s, ramp-up included")

    @property
    def of_threads(self) -> bool:
        """Whether the load is a number of threads."""
        return self.gain_percent is not None

    @property
    def unit(self) -> str:
        return "threads" if self.of_threads else "ops/s"

    @property
    def id(self) -> str:
        """Part of the test case's id: `max-read-p99-20ms`."""
        if self.gain_percent is not None:
            return f"gain{self.gain_percent:g}pct"
        cpu = [] if self.cpu_percent is None else [f"cpu{self.cpu_percent:g}pct"]
        named = (f"{x.operation.lower()}-p{x.percentile:g}-{x.ms:g}ms" for x in self.limits)
        return "-".join(("max", *named, *cpu))

    @property
    def goal(self) -> str:
        """For people: 'highest rate with READ p99 <= 20 ms'."""
        if self.gain_percent is not None:
            return f"threads beyond which twice as many gain less than {self.gain_percent:g} %"
        cpu = [] if self.cpu_percent is None else [f"CPU <= {self.cpu_percent:g} %"]
        return f"highest rate with {' and '.join((*map(str, self.limits), *cpu))}"


class Probe(Frozen):
    """One probe, as a trial's manifest keeps it. `kept`: None until it is judged, and if it has no result.
    `stretch`: length of its measurement, in lengths of the first."""

    number: int
    load: float
    stretch: float
    because: str = Field(description="why this load was chosen")
    to_beat_ops_s: float | None = Field(
        None, description="rate that a probe of more threads must exceed; null: none"
    )
    rate_ops_s: float | None = Field(None, description="rate achieved")
    latency_ms: dict[str, float] = Field(
        default={}, description="each limited percentile of intended latency"
    )
    cpu_percent: float | None = Field(None, description="CPU used on the cluster's hosts")
    kept: bool | None = None
    why: str = Field("", description="what decided")

    @property
    def verdict(self) -> str:
        """'kept: READ p99 12 ms, limit 20 ms'."""
        word = {True: "kept", False: "rejected", None: "no result"}[self.kept]
        return f"{word}: {self.why}" if self.why else word


@dataclass(frozen=True)
class Next:
    """The probe to run."""

    load: float
    stretch: float
    because: str


@dataclass(frozen=True)
class Ended:
    """The search is over. `answer`: the probe of the highest load kept; None: there is none. `rejected`: the
    lowest load rejected. `exact`: both are one step apart."""

    answer: Probe | None
    rejected: float | None
    exact: bool
    why: str


def stretch_after(rejections: int) -> float:
    """Length of a probe after this many that were not kept."""
    return min(LONGEST, _LONGER**rejections)


def next_probe(search: Search, probes: Sequence[Probe], first: float = 0.0) -> Next | Ended:
    """The probe after `probes`, in the order in which they ran, or the end. `first`: load of the first."""
    if not probes:
        return Next(_whole(first), 1.0, "the first load")
    low, rejected = _bounds(probes)
    high = rejected.load if rejected else inf
    stretch = stretch_after(sum(not probe.kept for probe in probes))
    if [probe.kept for probe in probes[-2:]] == [None, None]:
        return Ended(None, None, False, f"two probes have no result: {probes[-1].why}")
    at, above = f"{low.load:,.0f}" if low else "", f"{high:,.0f}"
    close = low is not None and _apart(search, low.load, high)
    doubtful = None if search.of_threads else _doubtful(low, rejected, close, stretch)
    if close and not doubtful:
        return Ended(low, high, True, f"{at} {search.unit} kept, {above} rejected")
    if len(probes) >= search.probes:
        return Ended(
            low, None if high == inf else high, False, f"its {len(probes)} probes are used up"
        )
    if probes[-1].kept is None:
        return Next(probes[-1].load, stretch, "again, because the last probe has no result")
    if low is None:
        if high <= 1:
            return Ended(None, high, True, f"even {above} {search.unit} is rejected")
        return Next(_whole(high / 2), stretch, f"half of {above}, because no load was kept so far")
    if high == inf:
        known = any(probe.kept is False for probe in probes)
        more, words = (_ONWARD, f"{_ONWARD:g} times") if known else (2.0, "twice")
        return Next(_whole(more * low.load), stretch, f"{words} {at}, which was kept")
    if doubtful:
        return Next(doubtful.load, stretch, f"{doubtful.load:,.0f} again, for longer")
    if _NEAR**2 * low.load < high and any(probe.kept and probe.load == high for probe in probes):
        return Next(
            _whole(high / _NEAR), stretch, f"a little below {above}, which was not kept again"
        )
    middle = _whole(sqrt(low.load * high))  # halves the distance of the logarithms
    return Next(middle, stretch, f"between {at}, kept, and {above}, rejected")


def _doubtful(
    low: Probe | None, rejected: Probe | None, close: bool, stretch: float
) -> Probe | None:
    """The end of the bracket that a short window decided, once the search comes near it."""
    if low is None:
        return None
    if rejected and rejected.load <= _NEAR * low.load:
        for end in (low, rejected):
            if end.stretch < _LONGER:  # less than after one rejection
                return end
    return low if close and low.stretch < stretch else None


def answer_of(search: Search, probes: Sequence[Probe]) -> Ended:
    """What the search has found with these probes, whether or not it was carried on to its end."""
    found = next_probe(search, probes)
    if isinstance(found, Ended):
        return found
    low, rejected = _bounds(probes)
    return Ended(
        low, rejected.load if rejected else None, False, "it was not carried on to its end"
    )


def _bounds(probes: Sequence[Probe]) -> tuple[Probe | None, Probe | None]:
    """The highest load kept below every rejected one, and the lowest rejected. The longest probe of a load
    decides about it; of equally long ones, a rejection does."""
    judged = [probe for probe in probes if probe.kept is not None]
    longest = {p.load: p for p in sorted(judged, key=lambda p: (p.stretch, not p.kept))}
    rejected = min((p for p in longest.values() if not p.kept), key=lambda p: p.load, default=None)
    kept = [p for p in longest.values() if p.kept and not (rejected and p.load > rejected.load)]
    return max(kept, key=lambda p: p.load, default=None), rejected


def _apart(search: Search, low: float, high: float) -> bool:
    """Whether no load between the two is to be probed."""
    if search.of_threads:
        return high < inf  # doubling is the question itself
    return high <= low * (1 + search.step_percent / 100) or high - low <= 1


def _whole(load: float) -> float:
    """YCSB's target is a whole number of operations per second."""
    return float(max(1, round(load)))
