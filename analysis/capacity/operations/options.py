"""All options of a catalogue for a load, and why the other combinations are none."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.curves.surface import NotMeasuredError, Surface, surfaces_of
from density_study.analysis.capacity.inputs.catalogue import Catalogue, HostType
from density_study.analysis.capacity.operations.load import Limit, Load
from density_study.analysis.capacity.operations.option import Option
from density_study.analysis.capacity.plan.words import Resource
from density_study.analysis.capacity.sizing.candidate import SURE
from density_study.analysis.capacity.sizing.promise_curve import QueryCurve, misfit, query_fit
from density_study.analysis.capacity.sizing.supply import measured_supply
from density_study.analysis.capacity.sizing.transfer import latency_speed, transfer
from density_study.cluster.model.plain import counted

# A store reads and writes at random, like the scans of HBase: its rate carries over as theirs does.
AT_RANDOM: Resource = "hbase_scan"


@dataclass
class Options:
    """refused: reason to the number of combinations that it excluded."""

    load: Load
    model: Model
    catalogue: Catalogue
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        found = surfaces_of(self.model.points)
        self._surfaces = {
            disk: one for (group, disk), one in found.items() if group == self.load.group
        }

    def all(self) -> Iterator[Option]:
        """Yields the options of every host type that has a price."""
        for host in self.catalogue.hosts:
            if host.is_priced:
                yield from self.of(host)
            else:
                self.refused[
                    f"{host.name}: its price is missing; set capex_usd or usd_per_hour"
                ] += 1

    def of(self, host: HostType) -> Iterator[Option]:
        """Yield the options of one host type, on each of its disk types: at every measured density, or at the
        density that the catalogue gives it."""
        rng = np.random.default_rng([self.load.seed, 2, zlib.crc32(host.name.encode())])
        speed = host.cpu_speed.draws(rng, self.load.draws)
        for disk_type in host.disk_types:
            surface = self._surfaces.get(disk_type)
            if surface is None:
                known = ", ".join(sorted(self._surfaces))
                self.refused[
                    f"{self.load.group} was measured only on {known}, not on {disk_type}: measure it there"
                ] += 1
                continue
            densities = surface.densities if host.vms_per_host is None else (host.vms_per_host,)
            for density in densities:
                try:
                    yield self._option(host, density, surface, speed)
                except NotMeasuredError as error:
                    self.refused[str(error)] += 1

    def _option(self, host: HostType, density: int, surface: Surface, speed: Floats) -> Option:
        load, measured_on = self.load, self.catalogue.measured_on
        if density > host.cores:
            few = f"{host.name} has {counted(host.cores, 'core')} for {density} VMs"
            raise NotMeasuredError(f"{few}, less than one each")
        supply = measured_supply(surface, density, load.seed, load.draws)
        carried = transfer(AT_RANDOM, surface.disk_type, host, speed, measured_on)
        option = Option(
            host=host,
            vms_per_host=density,
            disk_type=surface.disk_type,
            supply=supply,
            rates=supply.rates * carried.factor[:, None],
            curves={
                one: self._curve(one, host, density, surface.disk_type, speed)
                for one in load.limits
            },
            assumed=carried.note(measured_on.name),
        )
        for limit, allowed in option.allowed.items():
            if float((allowed > 0).mean()) < SURE:
                raise NotMeasuredError(f"{limit} is not met by {option.words}, even without load")
        return option

    def _curve(
        self, limit: Limit, host: HostType, density: int, disk_type: str, speed: Floats
    ) -> QueryCurve:
        load = self.load
        fit = query_fit(
            self.model, load.group, disk_type, density, limit.percentile, (limit.operation,)
        )
        if fit.operation not in (limit.operation, ""):
            raise NotMeasuredError(
                f"no latency of {limit.operation} by load was measured for {load.group}, only of "
                f"{fit.operation}; name {fit.operation}"
            )
        faster = latency_speed(disk_type, host, speed, self.catalogue.measured_on)
        return QueryCurve(fit, misfit(fit, load.seed, load.draws) / faster)
