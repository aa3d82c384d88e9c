"""`Option`: one host type at one density on one disk type, and the operations per second that it carries.

Utilization rho is the load over the measured rate at saturation. Every latency rises with rho, so its
limit allows a largest rho, which is never beyond the largest measured one:

    carried(n) = rate(n) * min(0.8, largest rho within every limit),   with n hosts up

Rates reach from the smallest measured number of hosts to 1.5 times the largest. A larger load is refused, or
divided over several clusters of a measured size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.catalogue import HostType, Site
from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.operations.load import Limit, Load
from density_study.analysis.capacity.sizing.candidate import SURE
from density_study.analysis.capacity.sizing.promise_curve import QueryCurve
from density_study.analysis.capacity.sizing.supply import MeasuredSupply

RHO_MAX = 0.8
FILL = 0.75  # share of a disk that may be full


@dataclass(frozen=True)
class Size:
    """clusters of `hosts` each, of which one may fail in every cluster."""

    clusters: int
    hosts: int

    @property
    def total(self) -> int:
        return self.clusters * self.hosts


@dataclass(frozen=True)
class Option:
    """rates (draws, k): operations per second at saturation with supply.hosts (k,) up. curves: those of each
    limit, seconds over rho."""

    host: HostType
    vms_per_host: int
    disk_type: str
    supply: MeasuredSupply
    rates: Floats
    curves: Mapping[Limit, QueryCurve]
    assumed: str | None = None

    @cached_property
    def allowed(self) -> dict[str, Floats]:
        """The largest utilization rho that each limit allows (draws,), by the limit's name."""
        found = {str(one): curve.allowed_rho(one.limit_s) for one, curve in self.curves.items()}
        return {f"utilization <= {RHO_MAX:.0%}": np.full(len(self.rates), RHO_MAX), **found}

    @cached_property
    def carried(self) -> Floats:
        """Operations per second within all limits (draws, k)."""
        allowed = np.min(list(self.allowed.values()), axis=0)
        result: Floats = self.rates * allowed[:, None]
        return result

    @cached_property
    def sure(self) -> Floats:
        """Operations per second that are carried in nine of ten draws, for each number of hosts in the supply
        (k,)."""
        return -not_exceeded(-self.carried, SURE)

    def tightest(self) -> str:
        """The limit that most draws meet first."""
        every = np.stack(list(self.allowed.values()))
        return list(self.allowed)[int(np.bincount(every.argmin(axis=0)).argmax())]

    def smallest(self, load: Load) -> Size | None:
        """The fewest hosts that carry a load and its table; None if no measured size does."""
        return min(self._sizes(load), key=lambda one: (one.total, one.clusters), default=None)

    def _sizes(self, load: Load) -> Iterator[Size]:
        for up, sure in zip(self.supply.hosts, self.sure, strict=True):
            if sure > 0:
                # the last rounding of a division must not add a cluster
                clusters = ceil(load.ops_s / float(sure) * (1 - 1e-12))
                clusters = max(1, clusters, ceil(load.stored_gib / self._space_gib(up)))
                if clusters == 1 or load.split:
                    yield Size(clusters, int(up) + 1)

    def largest(self, hosts: int, load: Load) -> tuple[float, Size] | None:
        """The largest load that `hosts` carry, and how they are divided; None if they carry none."""
        found = []
        for up, sure in zip(self.supply.hosts, self.sure, strict=True):
            clusters = hosts // (int(up) + 1)
            clusters = clusters if load.split else min(clusters, 1)
            room = clusters * self._space_gib(up) >= load.stored_gib
            if clusters and sure > 0 and room:
                found.append((clusters * float(sure), Size(clusters, int(up) + 1)))
        return max(found, key=lambda one: (one[0], -one[1].total), default=None)

    def _space_gib(self, up: float) -> float:
        return self.host.size_gib(self.disk_type) * FILL * float(up)

    def place(self, size: Size) -> int:
        """Index in `supply.hosts` of a cluster with one host failed."""
        return int(np.searchsorted(self.supply.hosts, size.hosts - 1))

    def holds(self, size: Size, ops_s: float) -> float:
        """Probability that every limit holds with one host failed in each cluster."""
        share = ops_s / size.clusters * (1 - 1e-12)
        return float((self.carried[:, self.place(size)] >= share).mean())

    def rho(self, size: Size, ops_s: float) -> Floats:
        """Utilization with one host failed in each cluster (draws,)."""
        result: Floats = ops_s / size.clusters / self.rates[:, self.place(size)]
        return result

    def usd_per_hour(self, size: Size, site: Site) -> float | None:
        return size.total * self.host.usd_per_day(site) / 24 if self.host.is_priced else None

    @property
    def words(self) -> str:
        """'small-flash with 2 VMs per host on flash'."""
        count = self.vms_per_host
        vms = f"{count} VM{'s' * (count != 1)} per host" if count else "bare hosts"
        return f"{self.host.name} with {vms} on {self.disk_type}"
