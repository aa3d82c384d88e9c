"""`Catalogue`: hosts to buy or rent, with prices, their date and basis. Written by the user.

Disks are given by disk type. `cpu_speed` is the speed of one core over one core of `measured_on`, the host
the points were measured on; its range is the calibration's own error. Numbers outside of a plausible range
are refused, because they are slips of units.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from density_study.analysis.capacity.inputs.plausible import between
from density_study.analysis.capacity.inputs.ranged import FiniteModel, UncertainValue
from density_study.analysis.capacity.inputs.spelling import respelled
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.checked import FaultyKeyError, dotted, leaves, like, no_duplicates

DAYS = 36 * 30.4  # of the 3 years over which hosts are paid
LIFE_YEARS = 3
EXAMPLE = Path(__file__).parent / "examples" / "catalog.yaml"


HostName = Annotated[str, like(r"(?u:.*\S.*)", "a name", dash=True)]
Cores = Annotated[int, between(1, 4096, "cores", "the number of a whole rack")]
Gbits = Annotated[float, between(0.1, 1600, "Gbit/s", "in Mbit/s")]


class DiskRate(FiniteModel):
    disk_type: str = Field(description="for example flash or hdd")
    count: Annotated[int, between(1, 400, "disks", "the number of a whole rack")] = Field(
        description="disks of this type per host"
    )
    mib_s: Annotated[float, between(5, 50_000, "MiB/s of one disk", "in GB/s or KiB/s")] | None = (
        Field(None, description="sequential, of one disk, by its data sheet")
    )


class CatalogueDisk(DiskRate):
    size_gib: Annotated[float, between(4, 2_500_000, "GiB of one disk", "in TiB or MiB")]


class SharedStore(FiniteModel):
    """A file system that all hosts mount, such as NFS or Lustre. Files may lie there, rows of HBase not."""

    disk_type: str = Field(description="as the points call it, for example lustre")
    mib_s: Annotated[float, between(10, 2e7, "MiB/s of the whole file system", "in GB/s")] = Field(
        description="sequential, of all hosts together"
    )
    size_gib: Annotated[float, between(100, 5e9, "GiB of the whole file system", "in TiB")] = Field(
        description="usable, after its own redundancy"
    )
    usd_per_day: Annotated[float, between(0, 500_000, "USD per day", "per year")] = Field(
        0.0, description="0: it stands, and costs the plan nothing"
    )

    def part(self, share: float) -> SharedStore:
        """The file system with this share of its rate, size and price: the part of one of several clusters
        that use it."""
        changed = {
            name: getattr(self, name) * share for name in ("mib_s", "size_gib", "usd_per_day")
        }
        return self.model_copy(update=changed)


class Accelerators(FiniteModel):
    """GPUs or FPGAs of a host."""

    kind: str
    count: Annotated[int, between(1, 64, "accelerators", "the number of a whole cluster")]


class HostType(FiniteModel):
    """Bought (capex_usd) or rented (usd_per_hour). A host with neither is excluded and named. A reserved host
    is a type of its own with its term."""

    name: HostName
    cores: Cores
    cpu_speed: UncertainValue = Field(description="speed of one core over one of measured_on")
    ram_gib: Annotated[float, between(0.5, 65_536, "GiB", "in TiB or MiB")]
    disks: tuple[CatalogueDisk, ...] = Field(min_length=1)
    accelerators: tuple[Accelerators, ...] = Field(
        (), description="GPUs or FPGAs, which VMs share equally"
    )
    network_gbit_s: Gbits | None = None
    capex_usd: Annotated[float, between(50, 5_000_000, "USD", "in thousands or cents")] | None = (
        Field(None, description="price of a bought host")
    )
    maintenance: Annotated[float, between(0, 1.5, "(a share of capex)", "in percent")] = Field(
        0.0, description="over the 3 years, share of capex"
    )
    kw: Annotated[float, between(0, 20, "kW", "in W")] = Field(
        0.0, description="power of a bought host"
    )
    usd_per_hour: Annotated[float, between(0.002, 1000, "USD", "in cents or per month")] | None = (
        Field(None, description="rent, in place of capex_usd")
    )
    operations_usd_per_day: Annotated[float, between(0, 5000, "USD", "per year")] = 0.0
    commit_years: Annotated[int, between(0, 10, "years", "in months")] = Field(
        0, description="rented: a term that is paid in any case; 0: on demand"
    )
    rack_units: Annotated[float, between(0, 50, "rack units", "in mm")] | None = None
    count: Annotated[int, between(1, 100_000, "hosts", "something else")] | None = Field(
        None,
        description="existing hosts of this type, each type a cluster, for `study capacity carry`",
    )
    vms_per_host: (
        Annotated[int, between(0, 1000, "VMs per host", "the number of a whole cluster")] | None
    ) = Field(None, description="density of existing hosts; null: the best measured one")

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        if self.capex_usd is not None and self.usd_per_hour is not None:
            raise ValueError(
                f"{self.name} has capex_usd and usd_per_hour: a host is bought or rented; delete one, or "
                "list it as two host types"
            )
        if self.usd_per_hour is not None and (self.maintenance or self.kw):
            raise ValueError(
                f"{self.name} is rented (usd_per_hour): maintenance and kw belong to bought hosts; "
                "delete them"
            )
        if self.commit_years and self.usd_per_hour is None:
            raise ValueError(f"{self.name} has commit_years, but is not rented (usd_per_hour)")
        if not 0.02 <= self.cpu_speed.value <= 50:
            raise ValueError(
                f"cpu_speed {self.cpu_speed.value:g} of {self.name} is not plausible: it is a ratio, 1 for "
                "the measured host's core; is it in percent or GHz?"
            )
        return self

    @property
    def disk_types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(disk.disk_type for disk in self.disks))

    @property
    def is_priced(self) -> bool:
        return self.capex_usd is not None or self.usd_per_hour is not None

    def usd_per_day(self, site: Site) -> float:
        """Rent, or straight-line depreciation over 36 months plus power, and operations. ValueError without
        a price."""
        return self.fixed_usd_per_day() + self.running_usd_per_day(site)

    def fixed_usd_per_day(self) -> float:
        """Rent or depreciation: capex * (1 + maintenance) / (36 * 30.4). ValueError without a price."""
        if self.usd_per_hour is not None:
            return self.usd_per_hour * 24
        if self.capex_usd is None:
            raise ValueError(f"host {self.name} has no price")
        return self.capex_usd * (1 + self.maintenance) / DAYS

    def running_usd_per_day(self, site: Site) -> float:
        """Power of a bought host, kW * 24 * PUE * tariff, and operations."""
        # PUE: power usage effectiveness (The Green Grid 2007)
        return self.kw * 24 * site.pue * site.usd_per_kwh + self.operations_usd_per_day

    @property
    def term_years(self) -> int:
        """Years that are paid at once: the life of a bought host, a commitment, or 0 on demand."""
        return LIFE_YEARS if self.capex_usd is not None else self.commit_years

    @property
    def price_kind(self) -> str:
        """How the host is paid, in words."""
        if self.capex_usd is not None:
            return "bought"
        return f"reserved, {self.commit_years} y" if self.commit_years else "on demand"

    def accelerators_of(self, kind: str) -> int:
        return sum(one.count for one in self.accelerators if one.kind == kind)

    @property
    def gib(self) -> float:
        """Sum over all its disks."""
        return sum(disk.size_gib * disk.count for disk in self.disks)

    def size_gib(self, disk_type: str) -> float:
        return sum(disk.size_gib * disk.count for disk in self.disks if disk.disk_type == disk_type)

    def disks_of(self, disk_type: str) -> tuple[CatalogueDisk, ...]:
        return tuple(disk for disk in self.disks if disk.disk_type == disk_type)

    def mib_s(self, disk_type: str) -> float | None:
        """Sequential rate of all its disks of a disk type; None if a disk has no rate."""
        disks = self.disks_of(disk_type)
        rates = [disk.mib_s * disk.count for disk in disks if disk.mib_s is not None]
        return sum(rates) if disks and len(rates) == len(disks) else None


class MeasuredOn(FiniteModel):
    """The host on which the model's points were measured."""

    name: str
    cores: Cores
    disks: tuple[DiskRate, ...] = Field(
        (), description="without disks and network, rates are not raised on other hosts"
    )
    network_gbit_s: Gbits | None = None

    def disks_of(self, disk_type: str) -> tuple[DiskRate, ...]:
        return tuple(disk for disk in self.disks if disk.disk_type == disk_type)


class Site(FiniteModel):
    usd_per_kwh: Annotated[float, between(0, 3, "USD", "in cents")] = Field(
        description="price of power"
    )
    pue: Annotated[float, between(1, 4, "(a ratio)", "in percent")] = Field(
        description="power usage effectiveness"
    )
    price_error: float = Field(
        0.1, ge=0, lt=1, description="half width of the 90 % range of prices"
    )


class Catalogue(FiniteModel):
    format: Literal[1]
    catalogue: str = Field(description="its name")
    date: datetime.date = Field(description="date of the prices")
    price_basis: str = Field(min_length=1, description="where the prices are from")
    measured_on: MeasuredOn
    site: Site
    hosts: tuple[HostType, ...] = Field(min_length=1)
    shared: tuple[SharedStore, ...] = Field((), description="file systems that all hosts mount")

    @property
    def is_example(self) -> bool:
        """Whether it is the shipped example, or a copy whose name was not changed."""
        return self.catalogue.strip().lower() == "example"

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [host.name for host in self.hosts]
        no_duplicates("host type", names, "hosts", why="; give each its own name")
        for place, name, _, other in respelled(enumerate(names)):
            what = f"duplicate host type: {other!r} and {name!r}; give each its own name"
            raise FaultyKeyError(what, "hosts", place, "name")
        every = list(leaves(self.model_dump(mode="json")))
        for noun in ("disk_type", "kind"):
            for key, name, at, other in respelled(one for one in every if one[0][-1] == noun):
                what = f"{name!r} is {other!r} at {dotted(at)}; write one name in one way"
                raise FaultyKeyError(what, *key)
        local = {disk_type for host in self.hosts for disk_type in host.disk_types}
        shared = [one.disk_type for one in self.shared]
        if local & set(shared) or len(set(shared)) < len(shared):
            raise ValueError("a shared file system needs a disk_type that no other disk has")
        return self

    def shared_of(self, disk_type: str) -> SharedStore | None:
        return next((one for one in self.shared if one.disk_type == disk_type), None)


def read_standing(path: Path) -> Catalogue:
    """Read a catalogue of existing hosts. InputError unless a host type has a count."""
    catalogue = Catalogue.read(path)
    if all(host.count is None for host in catalogue.hosts):
        raise InputError(
            f"none of {', '.join(host.name for host in catalogue.hosts)} has a count.",
            str(path),
            "give `count` to each type of which hosts stand.",
        )
    return catalogue


def read_catalogue(path: Path) -> Catalogue:
    """Read a catalogue. InputError if the file is not one, or if no host has a price."""
    catalogue = Catalogue.read(path)
    if not any(host.is_priced for host in catalogue.hosts):
        raise InputError(
            f"prices are missing: none of {', '.join(host.name for host in catalogue.hosts)} has one.",
            str(path),
            "give capex_usd or usd_per_hour to the hosts that may be chosen.",
        )
    return catalogue
