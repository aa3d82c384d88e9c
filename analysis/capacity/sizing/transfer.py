"""How a rate measured on one host type carries over to another host type of the catalogue.

A system is bounded by one of its parts (Denning and Buzen 1978). The points do not say by which. Its rate
grows at least by the smallest of the ratios of all parts that may bound it, and the plan counts on no more:

    factor = min(cores * cpu_speed, MiB/s of the disk type's disks, network), each over the measured host's

The rate of HBase also depends on the number of disks, because it seeks. A part that the catalogue does not
give for both host types counts as equal: it never raises a rate. Whatever was measured, HDFS moves no more
than the disks of all hosts do by their data sheets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.catalogue import (
    CatalogueDisk,
    DiskRate,
    HostType,
    MeasuredOn,
    SharedStore,
)
from density_study.analysis.capacity.inputs.profile import SEQUENTIAL
from density_study.analysis.capacity.plan.words import Resource

CORES, DISKS, NETWORK = "cores", "disks", "network"
MIB_S_PER_GBIT_S = 1e9 / 8 / 2**20


@dataclass(frozen=True)
class Transfer:
    """factor (draws,): rate relative to the measured host. bound: the part that limits it most often.
    unknown: parts that the catalogue does not give for both hosts."""

    factor: Floats
    bound: str
    unknown: tuple[str, ...]

    def note(self, measured_on: str) -> str | None:
        """What was assumed, in words; None if the rate is that of the measured host."""
        middle = float(np.median(self.factor))
        if not self.unknown and abs(middle - 1) < 0.005:
            return None
        text = f"{middle:.2f}x the rate measured on {measured_on}, bound by {self.bound}"
        if self.unknown:
            text += (
                f"; the catalogue does not give the {' and '.join(self.unknown)} of both hosts "
                "(disks[].mib_s, network_gbit_s), so no rate is raised"
            )
        return text


def transfer(
    resource: Resource,
    disk_type: str,
    host: HostType,
    speed: Floats,
    measured: MeasuredOn,
    shared: SharedStore | None = None,
) -> Transfer:
    """speed (draws,): of a core, relative to the measured host's. shared: the file system of `disk_type`,
    whose disks are the same whatever the hosts."""
    ratios: dict[str, Floats] = {CORES: host.cores / measured.cores * speed}
    parts = {NETWORK: _ratio(host.network_gbit_s, measured.network_gbit_s)}
    if shared is None:
        here, there = host.disks_of(disk_type), measured.disks_of(disk_type)
        parts = {DISKS: _of_disks(resource, here, there), **parts}
    unknown = []
    for part, ratio in parts.items():
        if ratio is None:
            unknown.append(part)
        ratios[part] = np.full_like(speed, 1.0 if ratio is None else ratio)
    every = np.stack(list(ratios.values()))
    most_often = int(np.bincount(every.argmin(axis=0)).argmax())
    return Transfer(every.min(axis=0), list(ratios)[most_often], tuple(unknown))


def latency_speed(disk_type: str, host: HostType, speed: Floats, measured: MeasuredOn) -> Floats:
    """How fast one scan is relative to the measured host (draws,): no faster than one disk of the type."""
    here, there = host.disks_of(disk_type), measured.disks_of(disk_type)
    slowest = _ratio(_slowest(here), _slowest(there))
    result: Floats = np.minimum(speed, 1.0 if slowest is None else slowest)
    return result


def ceiling(
    resource: Resource, disk_type: str, host: HostType, replication: int, hosts: Floats
) -> Floats | None:
    """MiB/s of HDFS that the disks of `hosts` (k,) carry by their data sheets; None for HBase, or without
    mib_s."""
    if resource not in SEQUENTIAL:
        return None
    rate = host.mib_s(disk_type)
    # a disk writes every replica, but a read needs one
    copies = replication if resource == "hdfs_write" else 1
    return None if rate is None else hosts * rate / copies


def shared_ceiling(shared: SharedStore, host: HostType, hosts: Floats) -> Floats:
    """MiB/s that `hosts` (k,) move to or from a shared file system at most; all that it carries without
    network_gbit_s."""
    if host.network_gbit_s is None:
        return np.full_like(hosts, shared.mib_s)
    result: Floats = np.minimum(shared.mib_s, hosts * host.network_gbit_s * MIB_S_PER_GBIT_S)
    return result


def _of_disks(
    resource: Resource, here: tuple[CatalogueDisk, ...], there: tuple[DiskRate, ...]
) -> float | None:
    ratios = [_ratio(_total(here), _total(there))]
    if resource not in SEQUENTIAL:
        ratios.append(_ratio(sum(d.count for d in here), sum(d.count for d in there)))
    known = [ratio for ratio in ratios if ratio is not None]
    return min(known) if len(known) == len(ratios) else None


def _rates(disks: tuple[DiskRate, ...]) -> Iterator[tuple[float, int]]:
    return ((disk.mib_s, disk.count) for disk in disks if disk.mib_s is not None)


def _total(disks: tuple[DiskRate, ...]) -> float | None:
    rates = list(_rates(disks))
    return sum(rate * count for rate, count in rates) if len(rates) == len(disks) else None


def _slowest(disks: tuple[DiskRate, ...]) -> float | None:
    return min((rate for rate, _ in _rates(disks)), default=None)


def _ratio(here: float | None, there: float | None) -> float | None:
    return here / there if here and there else None
