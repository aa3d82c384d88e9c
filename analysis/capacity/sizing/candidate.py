"""`Candidate`: one host type at one density, with a medium for sequential and one for random data.

A resource needs the smallest h such that h - 1 hosts carry it, so that any one of the identical hosts may
fail (N + 1 redundancy). If more hosts are bought than the forecast of a resource covers, its rate stays
that of the largest covered count; it is never extrapolated further.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.catalogue import HostType
from density_study.analysis.capacity.inputs.profile import Resource, Stage
from density_study.analysis.capacity.sizing.demand import Demand
from density_study.analysis.capacity.sizing.promise_curve import QueryCurve
from density_study.analysis.capacity.sizing.slots import Slots
from density_study.analysis.capacity.sizing.supply import MeasuredSupply

COMPUTE = "compute"
SURE = 0.9  # share of draws in which the chosen hosts must be enough
EXCESS_ALLOWED = 0.1  # excess that is no mistake, as a share of the need
TOO_MUCH = 0.02 / 0.10  # ratio of the goals: too few in 2 % of cases, far too many in 10 %
A_HOST = 0.03  # loss of a host that is not needed: avoids excess that is cheap to avoid


@dataclass(frozen=True)
class ResourceSupply:
    """A supply on this host type. factor (draws,): rate relative to the measured host.
    required (draws,): demanded rate. limit (draws,): maximum utilization."""

    resource: Resource
    supply: MeasuredSupply
    factor: Floats
    required: Floats
    limit: Floats

    def need(self) -> Floats:
        """Hosts (draws,); infinite if no count within the forecast is enough."""
        enough = self.supply.rates * (self.factor * self.limit)[:, None] >= self.required[:, None]
        # argmax is the first count that is enough, or 0 if none is; one more, because a host may fail
        first = self.supply.hosts[enough.argmax(axis=1)] + 1.0
        return np.where(enough.any(axis=1), first, np.inf)

    def rate(self, hosts: int) -> Floats:
        """Units per second with `hosts` up (draws,)."""
        place = int(np.clip(hosts - self.supply.hosts[0], 0, len(self.supply.hosts) - 1))
        return self.supply.rates[:, place] * self.factor

    def rho(self, hosts: int) -> Floats:
        """Utilization: demanded rate over capacity (draws,)."""
        return self.required / self.rate(hosts)


@dataclass(frozen=True)
class Candidate:
    host: HostType
    vms_per_host: int
    medium_sequential: str
    medium_random: str
    slots: Slots
    provided: tuple[ResourceSupply, ...]
    # medium to (GiB to store (draws,), GiB that a host stores)
    disks: Mapping[str, tuple[Floats, float]] = field(repr=False)
    query: QueryCurve | None
    host_day_usd: float

    @property
    def demand(self) -> Demand:
        return self.slots.demand

    @property
    def rho_max(self) -> float:
        return self.demand.profile.rho_max

    @cached_property
    def needs(self) -> dict[str, Floats]:
        """Hosts that each resource needs, one of them failed (draws,)."""
        found: dict[str, Floats] = {}
        if self.demand.profile.stages:
            found[COMPUTE] = np.ceil(self.slots.compute_hosts() / self.rho_max) + 1.0
        for one in self.provided:
            found[one.resource] = one.need()
        for medium, (gib, per_host) in self.disks.items():
            found[f"storage on {medium}"] = np.ceil(gib / per_host) + 1.0
        return found

    @cached_property
    def need(self) -> Floats:
        """Hosts needed (draws,), at least 2, because one may fail."""
        every = np.stack([*self.needs.values(), np.full_like(self.slots.speed, 2.0)])
        result: Floats = every.max(axis=0)
        return result

    @cached_property
    def hosts(self) -> int | None:
        """The count of least expected regret; None if no count is enough in too many draws."""
        return least_regret(self.need)

    def usd_per_genome(self, hosts: int) -> float:
        return hosts * self.host_day_usd / self.demand.question.genomes_per_day

    def rhos(self, hosts: int) -> dict[str, tuple[Floats, Floats]]:
        """Resource to (rho, limit), each (draws,), with `hosts` up."""
        some = np.full_like(self.slots.speed, self.rho_max)
        found = (
            {COMPUTE: (self.slots.compute_hosts() / hosts, some)}
            if self.demand.profile.stages
            else {}
        )
        for one in self.provided:
            found[one.resource] = (one.rho(hosts), one.limit)
        for medium, (gib, per_host) in self.disks.items():
            found[f"storage on {medium}"] = (gib / (per_host * hosts), np.ones_like(some))
        return found

    def stage_s(self, stage: Stage, hosts: int) -> Floats:
        """Service time of a genome's stage (draws,): the slower of its tasks and its data transfer."""
        slowest = self.slots.task_s(stage)
        for one in self.provided:
            if one.resource in stage.demands:
                amount = self.demand.drawn[f"{stage.name}.{one.resource}"]
                slowest = np.maximum(slowest, amount / one.rate(hosts))
        return slowest

    def stage_share(self, stage: Stage, hosts: int) -> Floats:
        """Share of all task slots of `hosts` that one genome takes (draws,)."""
        slots = np.maximum(self.slots.per_vm(stage), 1e-9) * self.slots.vms * hosts
        return stage.tasks / slots

    def path_s(self) -> Floats:
        """Seconds of a genome that never waits, with unlimited hosts: the critical path (draws,)."""
        ends: dict[str, Floats] = {}
        farthest = 10**6  # rates are then those of the largest count that a forecast covers
        for stage in self.demand.profile.stages:
            before = [ends[name] for name in stage.after]
            start = np.max(before, axis=0) if before else 0.0
            ends[stage.name] = start + self.stage_s(stage, farthest)
        result: Floats = np.max(list(ends.values()), axis=0)
        return result


def least_regret(need: Floats) -> int | None:
    """The host count of least expected regret among those that carry nine of ten draws; None if more
    than one draw in ten is infinite. need (draws,): hosts; infinite if no count is enough."""
    # Bayes decision with a piecewise loss (Savage 1951; Raiffa and Schlaifer 1961). The loss of a count h
    # in a draw that needs n hosts:
    #     n > h                          1 (too few hosts)
    #     h - n > max(1 host, 10 %)      TOO_MUCH + A_HOST * (h - n)
    #     otherwise                      A_HOST * (h - n)
    least = float(np.quantile(need, SURE, method="higher"))
    if not np.isfinite(least):
        return None
    finite = np.sort(need[np.isfinite(need)])
    tried = np.unique(finite[finite >= least])  # between two needs, the loss only grows with h
    return int(tried[int(np.argmin(_regret(finite, tried, len(need))))])


def _regret(need: Floats, hosts: Floats, draws: int) -> Floats:
    """Expected loss of each count in hosts (k,). need: ascending, without the infinite draws."""
    carried = np.searchsorted(need, hosts, side="right")  # draws with n <= h
    allowed = np.minimum(hosts - 1.0, hosts / (1.0 + EXCESS_ALLOWED))
    too_much = np.searchsorted(need, allowed, side="left")  # draws with n < allowed
    # sum of h - n over the carried draws, by cumulative sums instead of a (k, draws) table
    excess = hosts * carried - np.append(0.0, np.cumsum(need))[carried]
    result: Floats = (draws - carried + TOO_MUCH * too_much + A_HOST * excess) / draws
    return result
