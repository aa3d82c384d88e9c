"""All candidates of a catalogue, and why the other combinations were excluded."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TypeVar

import numpy as np

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.curves.surface import NotMeasuredError
from density_study.analysis.capacity.inputs.catalogue import Catalogue, HostType
from density_study.analysis.capacity.inputs.profile import SEQUENTIAL, Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.plan.words import Resource
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate, ResourceSupply
from density_study.analysis.capacity.sizing.demand import Demand
from density_study.analysis.capacity.sizing.promise_curve import QueryCurve, misfit, query_fit
from density_study.analysis.capacity.sizing.slots import Slots
from density_study.analysis.capacity.sizing.supply import MeasuredSupply, SupplyCatalog
from density_study.analysis.capacity.sizing.transfer import (
    ceiling,
    latency_speed,
    shared_ceiling,
    transfer,
)

# Assumed HDFS rate relative to the disks' data sheet, and its log error, if HDFS was not measured.
DISK_EFFICIENCY = 0.6
DISK_ERROR = 0.25
CATALOGUE_HOSTS = 1000  # largest count considered without a measurement
T = TypeVar("T")


SPLIT = "measure at larger host counts, or split the cohort over several clusters"
MEASURE = "measure what the reasons name, then fit the model again"
RELAX = "relax the SLO, or split the slowest stage into more concurrent tasks"


class UnmetError(NotMeasuredError):
    """An SLO that no number of hosts meets."""


@dataclass
class Search:
    """refused: reason to the number of candidates that it excluded. steps: reason to what to do about it."""

    market: SupplyCatalog
    demand: Demand
    catalogue: Catalogue
    densities: tuple[int, ...]
    refused: Counter[str] = field(default_factory=Counter)
    steps: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    # (host type, disk type, resource) to what was assumed about its rate
    transfers: dict[tuple[str, str, Resource], str] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, model: Model, profile: Profile, catalogue: Catalogue) -> Search:
        """Over the measured VMs per host, and all counts between them."""
        measured = {point.vms_per_host for point in model.points}
        positive = [v for v in measured if v >= 1]
        between = set(range(min(positive), max(positive) + 1)) if positive else set()
        market = SupplyCatalog.of(model, profile, question)
        densities = tuple(sorted(measured | between))
        return cls(market, Demand.of(profile, question), catalogue, densities)

    def candidates(self) -> Iterator[Candidate]:
        for host in self.catalogue.hosts:
            if not host.is_priced:
                reason = f"{host.name}: its price is missing; set capex_usd or usd_per_hour"
                self.refuse(reason, "add prices to the host types in the catalogue")
                continue
            yield from self.of_host(host, self.densities)

    def refuse(self, reason: str, step: str | None) -> None:
        """Exclude a candidate."""
        self.refused[reason] += 1
        if step:
            self.steps[reason] = step

    def of_host(self, host: HostType, densities: Sequence[int]) -> Iterator[Candidate]:
        """Yields the candidates of one host type. A type without a price costs nan."""
        # a stream per purpose and host type: another type in the catalogue changes no draw of this one
        rng = np.random.default_rng([self.demand.question.seed, 2, zlib.crc32(host.name.encode())])
        speed = host.cpu_speed.draws(rng, self.demand.question.draws)
        for vms_per_host in densities:
            yield from self._of_density(Slots(self.demand, host, vms_per_host, speed))

    def at(self, genomes_per_day: float) -> Search:
        """The same search for another load: same draws, same supplies."""
        question = replace(self.demand.question, genomes_per_day=genomes_per_day)
        demand = replace(self.demand, question=question)
        return Search(self.market, demand, self.catalogue, self.densities)

    def _of_density(self, slots: Slots) -> Iterator[Candidate]:
        forbidden = slots.forbidden()
        if forbidden is not None:
            self.refuse(*forbidden)
            return
        disk_types = slots.host.disk_types
        for_files = (*disk_types, *(one.disk_type for one in self.catalogue.shared))
        sequential = {one: _attempt(partial(self._provided, slots, one, True)) for one in for_files}
        random = {one: _attempt(partial(self._provided, slots, one, False)) for one in disk_types}
        queries = {one: _attempt(partial(self._query, slots, one)) for one in disk_types}
        for first, second in product(for_files, disk_types):
            parts = (sequential[first], random[second], queries[second])
            missing = [part for part in parts if isinstance(part, NotMeasuredError)]
            for part in missing:
                self.refuse(str(part), RELAX if isinstance(part, UnmetError) else MEASURE)
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
        shared = self.catalogue.shared_of(first)
        whole = {} if shared is None else {first: shared.size_gib}
        return Candidate(
            host=slots.host,
            vms_per_host=slots.vms_per_host,
            disk_type_sequential=first,
            disk_type_random=second,
            slots=slots,
            provided=(*sequential, *random),
            space_gib={
                one: whole.get(one, slots.host.size_gib(one)) * self.demand.profile.storage.fill
                for one in (first, second)
            },
            shared=shared,
            query=query,
            host_day_usd=slots.host.usd_per_day(self.catalogue.site)
            if slots.host.is_priced
            else float("nan"),
        )

    def _limited(self, one: ResourceSupply, query: QueryCurve | None) -> ResourceSupply:
        promise = self.demand.question.query
        if one.resource != "hbase_scan" or query is None or promise is None:
            return one
        return replace(one, limit=np.minimum(one.limit, query.allowed_rho(promise.limit_s)))

    def _provided(
        self, slots: Slots, disk_type: str, sequential: bool
    ) -> tuple[ResourceSupply, ...]:
        wanted = [r for r in self.demand.resources() if (r in SEQUENTIAL) == sequential]
        return tuple(self._one(slots, disk_type, resource) for resource in wanted)

    def _one(self, slots: Slots, disk_type: str, resource: Resource) -> ResourceSupply:
        limit = np.full(self.demand.question.draws, self.demand.profile.rho_max)
        required = self.demand.per_s(resource)
        shared, group = self.catalogue.shared_of(disk_type), self.market.group(resource)
        unmeasured = shared is not None and (group, disk_type) not in self.market.surfaces
        if resource in SEQUENTIAL and (group is None or unmeasured):
            supply = self._by_data_sheet(slots.host, disk_type, resource)
            return ResourceSupply(resource, supply, np.ones_like(limit), required, limit)
        supply = self.market.supply(resource, slots.vms_per_host, disk_type)
        for note in supply.notes:
            self.warnings[f"{supply.group}: {note}"] = None
        host, measured_on = slots.host, self.catalogue.measured_on
        carried = transfer(resource, disk_type, host, slots.speed, measured_on, shared)
        assumed = carried.note(measured_on.name)
        if assumed is not None:
            self.transfers[host.name, disk_type, resource] = assumed
        copies = self.demand.profile.storage.replication
        if shared is None:
            most = ceiling(resource, disk_type, host, copies, supply.hosts)
        else:
            most = shared_ceiling(shared, host, supply.hosts)
        return ResourceSupply(resource, supply, carried.factor, required, limit, most)

    def _by_data_sheet(self, host: HostType, disk_type: str, resource: Resource) -> MeasuredSupply:
        """Sequential rate of the catalogue's disks, if HDFS was not measured."""
        hosts = np.arange(1, CATALOGUE_HOSTS + 1, dtype=float)
        shared = self.catalogue.shared_of(disk_type)
        if shared is None:
            copies = self.demand.profile.storage.replication
            most, lacks = ceiling(resource, disk_type, host, copies, hosts), "mib_s for"
        else:
            lacks = "network_gbit_s to"
            most = shared_ceiling(shared, host, hosts) if host.network_gbit_s else None
        if most is None:
            raise NotMeasuredError(
                f"no measured group provides {resource}, and {host.name} has no {lacks} {disk_type}: "
                "measure TestDFSIO, or complete the catalogue"
            )
        where, of = "", "that in the disks' data sheets"
        if shared is not None:
            where, of = f" on {disk_type}", f"what the hosts' network and {disk_type} carry"
        assumed = f"its rate is {DISK_EFFICIENCY:g} (assumed) of {of}"
        self.warnings[f"{resource} was not measured{where}: {assumed}"] = None
        rng = np.random.default_rng([self.demand.question.seed, 3])
        error = np.exp(DISK_ERROR * rng.standard_normal(self.demand.question.draws))
        rates = (DISK_EFFICIENCY * error)[:, None] * most[None, :]
        return MeasuredSupply("the catalogue's disks", hosts, rates, CATALOGUE_HOSTS, ())

    def _query(self, slots: Slots, disk_type: str) -> QueryCurve | None:
        promise = self.demand.question.query
        if promise is None or self.demand.profile.query is None:
            return None
        group = self.market.group("hbase_scan")
        if group is None:
            raise NotMeasuredError(
                "no measured group provides hbase_scan, which the query SLO needs"
            )
        found = query_fit(
            self.market.model, group, disk_type, slots.vms_per_host, promise.percentile
        )
        speed = latency_speed(disk_type, slots.host, slots.speed, self.catalogue.measured_on)
        question = self.demand.question
        off = misfit(found, question.seed, question.draws)
        curve = QueryCurve(found, self.demand.drawn["query.scans"] * off / speed)
        if float((curve.allowed_rho(promise.limit_s) > 0).mean()) < SURE:
            idle = float(np.median(curve.seconds(np.zeros_like(slots.speed))))
            raise UnmetError(
                f"{promise} cannot be met: a query of {group} takes {idle:.3g} s on the idle cluster "
                f"({slots.vms_per_host} VMs per host, {disk_type})"
            )
        return curve


def _attempt(make: Callable[[], T]) -> T | NotMeasuredError:
    """What `make` returns, or why it was not measured: one disk type's reason must not end the search."""
    try:
        return make()
    except NotMeasuredError as error:
        return error
