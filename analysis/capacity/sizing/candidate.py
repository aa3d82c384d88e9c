"""`Candidate`: one host type at one density, with a disk type for sequential and one for random data.

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
from density_study.analysis.capacity.inputs.catalogue import HostType, SharedStore
from density_study.analysis.capacity.inputs.profile import SEQUENTIAL, Stage
from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.plan.words import Resource
from density_study.analysis.capacity.sizing.demand import Demand
from density_study.analysis.capacity.sizing.promise_curve import QueryCurve
from density_study.analysis.capacity.sizing.slots import Slots
from density_study.analysis.capacity.sizing.supply import MeasuredSupply

COMPUTE = "compute"
SURE = 0.9  # share of draws in which the chosen hosts must be enough
Key = tuple[int, str, str]  # VMs per host, disk type of files, disk type of rows
FARTHEST = 10**6  # hosts: rates are then those of the largest count that a forecast covers


@dataclass(frozen=True)
class ResourceSupply:
    """A supply on this host type. factor (draws,): rate relative to the measured host. required (draws,):
    demanded rate. limit (draws,): maximum utilization. ceiling (k,): rate that the catalogue's disks,
    or the network and the shared file system, never exceed, at each count of hosts."""

    resource: Resource
    supply: MeasuredSupply
    factor: Floats
    required: Floats
    limit: Floats
    ceiling: Floats | None = None

    def need(self) -> Floats:
        """Hosts (draws,); infinite if no count within the forecast is enough."""
        rates = self.supply.rates * self.factor[:, None]
        if self.ceiling is not None:
            rates = np.minimum(rates, self.ceiling[None, :])
        enough = rates * self.limit[:, None] >= self.required[:, None]
        # argmax is the first count that is enough, or 0 if none is; one more, because a host may fail
        first = self.supply.hosts[enough.argmax(axis=1)] + 1.0
        return np.where(enough.any(axis=1), first, np.inf)

    def rate(self, hosts: int) -> Floats:
        """Units per second with `hosts` up (draws,)."""
        place = int(np.clip(hosts - self.supply.hosts[0], 0, len(self.supply.hosts) - 1))
        rates: Floats = self.supply.rates[:, place] * self.factor
        if self.ceiling is None:
            return rates
        bounded: Floats = np.minimum(rates, self.ceiling[place])
        return bounded

    def is_at_its_ceiling(self) -> bool:
        """Whether the ceiling bounds the rate of the largest forecast count, in most draws."""
        if self.ceiling is None:
            return False
        return float((self.supply.rates[:, -1] * self.factor >= self.ceiling[-1]).mean()) > 0.5

    def rho(self, hosts: int) -> Floats:
        """Utilization: demanded rate over capacity (draws,)."""
        return self.required / self.rate(hosts)


@dataclass(frozen=True)
class Candidate:
    host: HostType
    vms_per_host: int
    disk_type_sequential: str
    disk_type_random: str
    slots: Slots
    provided: tuple[ResourceSupply, ...]
    # disk type to GiB that a host stores, or that a shared file system stores
    space_gib: Mapping[str, float] = field(repr=False)
    query: QueryCurve | None
    host_day_usd: float
    shared: SharedStore | None = None  # where the files lie
    # mean seconds of a genome in the cluster (draws,), once they are simulated
    simulated_stay_s: Floats | None = field(default=None, repr=False)

    @property
    def key(self) -> Key:
        return (self.vms_per_host, self.disk_type_sequential, self.disk_type_random)

    @property
    def disk_types(self) -> tuple[str, ...]:
        """The disk types of files and of rows, which may be the same one."""
        return tuple(dict.fromkeys((self.disk_type_sequential, self.disk_type_random)))

    def disk_type_of(self, resource: str) -> str:
        """The disk type that serves a resource."""
        return self.disk_type_sequential if resource in SEQUENTIAL else self.disk_type_random

    @property
    def tightest(self) -> str:
        """The resource that needs the most hosts, in the median."""
        needs = {name: np.nan_to_num(need, posinf=1e12) for name, need in self.needs.items()}
        return max(needs, key=lambda name: float(np.median(needs[name])))

    @property
    def demand(self) -> Demand:
        return self.slots.demand

    @property
    def rho_max(self) -> float:
        return self.demand.profile.rho_max

    @cached_property
    def stored_gib(self) -> dict[str, Floats]:
        """Disk type to GiB to store (draws,). Scratch space lies with the files, for as long as a genome
        stays: as simulated, or at least its critical path."""
        demand = self.demand
        files = demand.kept_gib("sequential", self.copies(self.disk_type_sequential))
        rows = demand.kept_gib("random", self.copies(self.disk_type_random))
        if demand.profile.stages:
            stay_s = self.path_s() if self.simulated_stay_s is None else self.simulated_stay_s
            files = files + demand.scratch_gib(stay_s)
        if self.disk_type_sequential == self.disk_type_random:  # files and rows share the disks
            return {self.disk_type_sequential: files + rows}
        return {self.disk_type_sequential: files, self.disk_type_random: rows}

    def _is_shared(self, disk_type: str) -> bool:
        return self.shared is not None and disk_type == self.shared.disk_type

    def copies(self, disk_type: str) -> int:
        """Replicas of what is kept there; a shared file system has its own redundancy."""
        return 1 if self._is_shared(disk_type) else self.demand.profile.storage.replication

    def space(self, disk_type: str, hosts: float) -> float:
        """GiB that `hosts` store on a disk type."""
        return self.space_gib[disk_type] * (1.0 if self._is_shared(disk_type) else hosts)

    @cached_property
    def needs(self) -> dict[str, Floats]:
        """Hosts that each resource needs, one of them failed (draws,)."""
        found: dict[str, Floats] = {}
        if self.demand.profile.stages:
            found[COMPUTE] = np.ceil(self.slots.compute_hosts() / self.rho_max) + 1.0
        for one in self.provided:
            found[one.resource] = one.need()
        for disk_type, gib in self.stored_gib.items():
            count = np.ceil(gib / self.space_gib[disk_type])
            if self._is_shared(disk_type):  # no host adds space
                count = np.where(count <= 1, 1.0, np.inf)
            found[f"storage on {disk_type}"] = count + 1.0
        return found

    @cached_property
    def need(self) -> Floats:
        """Hosts needed (draws,), at least 2, because one may fail."""
        every = np.stack([*self.needs.values(), np.full_like(self.slots.speed, 2.0)])
        result: Floats = every.max(axis=0)
        return result

    @cached_property
    def hosts(self) -> int | None:
        """Hosts to buy before turnaround is simulated; None if no count is enough in too many draws."""
        return enough_hosts(self.need)

    @property
    def fixed_usd(self) -> float:
        """USD per day, whatever the hosts."""
        return 0.0 if self.shared is None else self.shared.usd_per_day

    def usd_per_genome(self, hosts: int) -> float:
        day_usd = hosts * self.host_day_usd + self.fixed_usd
        return day_usd / self.demand.question.genomes_per_day

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
        for disk_type, gib in self.stored_gib.items():
            found[f"storage on {disk_type}"] = (
                gib / self.space(disk_type, hosts),
                np.ones_like(some),
            )
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

    def path_s(self, hosts: int = FARTHEST) -> Floats:
        """Seconds of a genome that never waits for another, with `hosts` up: the critical path (draws,)."""
        ends: dict[str, Floats] = {}
        for stage in self.demand.profile.stages:
            before = [ends[name] for name in stage.after]
            start = np.max(before, axis=0) if before else 0.0
            # a stage larger than the cluster runs in waves
            waves = np.maximum(1.0, self.stage_share(stage, hosts)) if stage.computes else 1.0
            ends[stage.name] = start + self.stage_s(stage, hosts) * waves
        result: Floats = np.max(list(ends.values()), axis=0)
        return result


def enough_hosts(need: Floats) -> int | None:
    """The smallest count that is enough in nine of ten draws; None if more than one in ten is infinite.
    need (draws,): hosts."""
    # A quantile grows with every need, so a larger load or a tighter SLO never buys fewer hosts. A rule that
    # weighs too few hosts against too many does not have this property.
    sure = float(not_exceeded(need, SURE))
    return int(sure) if np.isfinite(sure) else None
