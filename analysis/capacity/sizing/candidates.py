"""All candidates of a catalogue, and why the rest are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from analysis.capacity.inputs.array import Floats
from analysis.capacity.inputs.catalogue import Catalogue, HostType
from analysis.capacity.inputs.profile import SEQUENTIAL, Resource
from analysis.capacity.sizing.candidate import Candidate, ResourceSupply
from analysis.capacity.sizing.cost import usd_per_host_day
from analysis.capacity.sizing.demand import DAY_S, Demand
from analysis.capacity.sizing.disk_space import kept_gib, scratch_gib
from analysis.capacity.sizing.promise_curve import QueryCurve, query_curve, query_fit
from analysis.capacity.sizing.regret import SURE
from analysis.capacity.sizing.slots import Slots
from analysis.capacity.sizing.supply import MeasuredSupply, NotMeasured, SupplyCatalog

DISK_EFFICIENCY = 0.6
DISK_ERROR = 0.25
"""HDFS over the disks' data sheet, and its log error: assumed where HDFS was not measured."""
CATALOGUE_HOSTS = 1000


@dataclass
class Search:
    """refused: reason to the number of candidates it kept out."""

    market: SupplyCatalog
    demand: Demand
    catalogue: Catalogue
    densities: tuple[int, ...]
    refused: Counter[str] = field(default_factory=Counter)
    warnings: dict[str, None] = field(default_factory=dict)

    def candidates(self) -> Iterator[Candidate]:
        for number, host in enumerate(self.catalogue.hosts):
            if not host.is_priced:
                self.refused[
                    f"{host.name}: its price is missing; give capex_usd or usd_per_hour"
                ] += 1
                continue
            rng = np.random.default_rng([self.demand.question.seed, 2, number])
            speed = host.cpu_speed.draws(rng, self.demand.question.draws)
            for vms_per_host in self.densities:
                yield from self._of_density(Slots(self.demand, host, vms_per_host, speed))

    def _of_density(self, slots: Slots) -> Iterator[Candidate]:
        forbidden = slots.forbidden()
        if forbidden is not None:
            self.refused[forbidden] += 1
            return
        media = slots.host.media
        sequential = {medium: self._provided(slots, medium, True) for medium in media}
        random = {medium: self._provided(slots, medium, False) for medium in media}
        queries = {medium: self._query(slots, medium) for medium in media}
        for first, second in product(media, media):
            parts = (sequential[first], random[second], queries[second])
            missing = [part.reason for part in parts if isinstance(part, NotMeasured)]
            for reason in missing:
                self.refused[reason] += 1
            if not missing:
                yield self._candidate(slots, first, second, parts)  # type: ignore[arg-type]

    def _candidate(
        self,
        slots: Slots,
        first: str,
        second: str,
        parts: tuple[tuple[ResourceSupply, ...], tuple[ResourceSupply, ...], QueryCurve | None],
    ) -> Candidate:
        sequential, random, query = parts
        random = tuple(self._limited(one, query) for one in random)
        return Candidate(
            host=slots.host,
            vms_per_host=slots.vms_per_host,
            medium_sequential=first,
            medium_random=second,
            slots=slots,
            provided=(*sequential, *random),
            disks=self._disks(slots.host, first, second),
            query=query,
            host_day_usd=usd_per_host_day(slots.host, self.catalogue.site),
        )

    def _limited(self, one: ResourceSupply, query: QueryCurve | None) -> ResourceSupply:
        promise = self.demand.question.query
        if one.resource != "hbase_scan" or query is None or promise is None:
            return one
        limit = np.minimum(one.limit, query.allowed_rho(promise.limit_s))
        return ResourceSupply(one.resource, one.supply, one.factor, one.asked, limit)

    def _provided(
        self, slots: Slots, medium: str, sequential: bool
    ) -> tuple[ResourceSupply, ...] | NotMeasured:
        wanted = [r for r in self.demand.resources() if (r in SEQUENTIAL) == sequential]
        found = []
        for resource in wanted:
            one = self._one(slots, medium, resource)
            if isinstance(one, NotMeasured):
                return one
            found.append(one)
        return tuple(found)

    def _one(self, slots: Slots, medium: str, resource: Resource) -> ResourceSupply | NotMeasured:
        limit = np.full(self.demand.question.draws, self.demand.profile.rho_max)
        asked = self.demand.per_s(resource)
        if resource in SEQUENTIAL and self.market.group(resource) is None:
            supply = self._by_data_sheet(slots.host, medium, resource)
            if isinstance(supply, NotMeasured):
                return supply
            return ResourceSupply(resource, supply, np.ones_like(limit), asked, limit)
        measured = self.market.supply(resource, slots.vms_per_host, medium)
        if isinstance(measured, NotMeasured):
            return measured
        for note in measured.notes:
            self.warnings[f"{measured.group}: {note}"] = None
        factor = slots.host.cores / self.catalogue.measured_on.cores * slots.speed
        return ResourceSupply(resource, measured, factor, asked, limit)

    def _by_data_sheet(
        self, host: HostType, medium: str, resource: Resource
    ) -> MeasuredSupply | NotMeasured:
        """Sequential rate of the disks in the catalogue, where HDFS was not measured."""
        rate = host.mib_s(medium)
        if rate is None:
            return NotMeasured(
                f"no measured group stands for {resource}, and {host.name} has no mib_s for {medium}: "
                "measure TestDFSIO, or give the disks' rate"
            )
        self.warnings[
            f"{resource} was not measured: it rests on the disks' data sheets, times "
            f"{DISK_EFFICIENCY:g} (assumed)"
        ] = None
        rng = np.random.default_rng([self.demand.question.seed, 3])
        error = np.exp(DISK_ERROR * rng.standard_normal(self.demand.question.draws))
        copies = self.demand.profile.storage.replication if resource == "hdfs_write" else 1
        hosts = np.arange(1, CATALOGUE_HOSTS + 1, dtype=float)
        rates = (rate * DISK_EFFICIENCY / copies * error)[:, None] * hosts[None, :]
        return MeasuredSupply("the catalogue's disks", hosts, rates, CATALOGUE_HOSTS, ())

    def _query(self, slots: Slots, medium: str) -> QueryCurve | NotMeasured | None:
        promise = self.demand.question.query
        if promise is None or self.demand.profile.query is None:
            return None
        group = self.market.group("hbase_scan")
        if group is None:
            return NotMeasured(
                "no measured group stands for hbase_scan, which the query promise needs"
            )
        found = query_fit(self.market.model, group, medium, slots.vms_per_host, promise.percentile)
        if isinstance(found, NotMeasured):
            return found
        rng = np.random.default_rng([self.demand.question.seed, 4])
        curve = query_curve(found, self.demand.drawn["query.scans"], slots.speed, rng)
        if float((curve.allowed_rho(promise.limit_s) > 0).mean()) < SURE:
            idle = float(np.median(curve.seconds(np.zeros_like(slots.speed))))
            return NotMeasured(
                f"{promise} cannot be kept: a query of {group} takes {idle:.3g} s on the idle cluster "
                f"({slots.vms_per_host} VMs per host, {medium})"
            )
        return curve

    def _disks(self, host: HostType, first: str, second: str) -> dict[str, tuple[Floats, float]]:
        """Medium to (GiB to hold, GiB a host holds when as full as may be)."""
        demand, fill = self.demand, self.demand.profile.storage.fill
        daily = demand.question.genomes_per_day
        promise = demand.question.turnaround
        in_work_s = promise.limit_s if promise else DAY_S
        profile, drawn = demand.profile, demand.drawn
        files = kept_gib(profile, drawn, daily, "sequential")
        if profile.stages:
            files = files + scratch_gib(drawn, daily, in_work_s)
        rows = kept_gib(profile, drawn, daily, "random")
        if first == second:
            return {first: (files + rows, host.size_gib(first) * fill)}
        return {
            first: (files, host.size_gib(first) * fill),
            second: (rows, host.size_gib(second) * fill),
        }
