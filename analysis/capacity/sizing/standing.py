"""An existing cluster, and the largest load that it carries.

A load is carried if `size` would buy no more hosts of this type than stand: every SLO and limit holds in nine
of ten draws, with one host failed. The largest such load is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from density_study.analysis.capacity.inputs.catalogue import HostType
from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate, Key
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.sized import Sized, Sizing

LEAST, MOST = 1e-3, 1e8  # genomes a day
PRECISION = 0.004  # of the load, relative


@dataclass(frozen=True)
class Standing:
    """densities: those that may be chosen. storage: whether the kept data must also fit."""

    search: Search
    host: HostType
    count: int
    densities: tuple[int, ...]
    storage: bool = True

    def candidates(self, genomes_per_day: float) -> dict[Key, Candidate]:
        """By density and disk types; empty where memory or a missing measurement forbids all."""
        found = self.search.at(genomes_per_day).of_host(self.host, self.densities)
        return {one.key: self._kept(one) for one in found}

    def candidate(self, key: Key, genomes_per_day: float) -> Candidate | None:
        """One of them; None if it cannot meet the SLO for queries."""
        return replace(self, densities=(key[0],)).candidates(genomes_per_day).get(key)

    def carried(self) -> tuple[float, Sized] | None:
        """The largest load over all densities and disk types, with the candidate; None if it carries none."""
        bounds = {key: self._bound(key) for key in self.candidates(LEAST)}
        best: tuple[float, Sized] | None = None
        for key, bound in sorted(bounds.items(), key=lambda item: -item[1]):
            if best is not None and bound <= best[0] * (1 + PRECISION):
                break
            found = self._most(key, bound)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        return best

    def meets(self, key: Key, genomes_per_day: float) -> Sized | None:
        """The cluster at a load, simulated; None if it does not carry it."""
        one = self.candidate(key, genomes_per_day)
        if one is None or not _fits(one, self.count):
            return None
        found = Sizing(one).with_hosts(self.count)
        return found if found.holds >= SURE else None

    def _most(self, key: Key, bound: float) -> tuple[float, Sized] | None:
        if bound < LEAST:
            return None
        load = largest(lambda load: self.meets(key, load) is not None, bound)
        found = None if load is None else self.meets(key, load)
        return None if load is None or found is None else (load, found)

    def _bound(self, key: Key) -> float:
        """The load that the resources carry; turnaround may allow less. 0: none."""

        def fits(load: float) -> bool:
            one = self.candidate(key, load)
            return one is not None and _fits(one, self.count)

        return largest(fits, MOST) or 0.0

    def _kept(self, one: Candidate) -> Candidate:
        if self.storage:
            return one
        return replace(one, space_gib=dict.fromkeys(one.space_gib, float("inf")))


def largest(enough: Callable[[float], bool], most: float) -> float | None:
    """The largest load up to `most` that is enough, if all below it are; None if not even the least is."""
    if enough(most):
        return most
    if not enough(LEAST):
        return None
    low, high = log(LEAST), log(most)
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if enough(exp(middle)) else (low, middle)
    return exp(low)


def _fits(one: Candidate, count: int) -> bool:
    return float(not_exceeded(one.need, SURE)) <= count


def more_disks(host: HostType, disk_type: str) -> HostType:
    """The host type with one more disk of `disk_type`."""
    disks = list(host.disks)
    place = next(n for n, disk in enumerate(disks) if disk.disk_type == disk_type)
    disks[place] = disks[place].model_copy(update={"count": disks[place].count + 1})
    return host.model_copy(update={"disks": tuple(disks)})


def neighbours(densities: Sequence[int], chosen: int) -> tuple[int, ...]:
    """The next smaller and the next larger density that were measured."""
    lower = [one for one in densities if one < chosen]
    higher = [one for one in densities if one > chosen]
    return (*lower[-1:], *higher[:1])
