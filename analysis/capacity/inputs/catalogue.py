"""`Catalogue`: hosts to buy or rent, with prices, their date and basis. Written by the user.

Disks are given by medium. `cpu_speed` is the speed of one core over one core of `measured_on`, the host
the points were measured on; its range is the calibration's own error.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from density_study.analysis.capacity.inputs.ranged import FiniteModel, UncertainValue
from density_study.cluster.model.errors import InputError

DAYS = 36 * 30.4  # of the 3 years over which hosts are paid
EXAMPLE = Path(__file__).parent / "examples" / "catalog.yaml"


class CatalogueDisk(FiniteModel):
    medium: str
    count: int = Field(ge=1)
    size_gib: float = Field(gt=0)
    mib_s: float | None = Field(
        None, gt=0, description="sequential, of one disk, by its data sheet"
    )


class HostType(FiniteModel):
    """Bought (capex_usd) or rented (usd_per_hour). A host with neither is excluded and named."""

    name: str
    cores: int = Field(ge=1)
    cpu_speed: UncertainValue
    ram_gib: float = Field(gt=0)
    disks: tuple[CatalogueDisk, ...] = Field(min_length=1)
    capex_usd: float | None = Field(None, gt=0)
    maintenance: float = Field(0.0, ge=0, description="over the 3 years, share of capex")
    kw: float = Field(0.0, ge=0)
    usd_per_hour: float | None = Field(None, gt=0)
    operations_usd_per_day: float = Field(0.0, ge=0)

    @property
    def media(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(disk.medium for disk in self.disks))

    @property
    def is_priced(self) -> bool:
        return self.capex_usd is not None or self.usd_per_hour is not None

    def usd_per_day(self, site: Site) -> float:
        """Rent, or straight-line depreciation over 36 months plus power, and operations. ValueError without
        a price."""
        # bought: capex * (1 + maintenance) / (36 * 30.4) + kW * 24 * PUE * tariff + operations
        # PUE: power usage effectiveness (The Green Grid 2007)
        if self.usd_per_hour is not None:
            return self.usd_per_hour * 24 + self.operations_usd_per_day
        if self.capex_usd is None:
            raise ValueError(f"host {self.name} has no price")
        capital = self.capex_usd * (1 + self.maintenance) / DAYS
        return capital + self.kw * 24 * site.pue * site.usd_per_kwh + self.operations_usd_per_day

    def size_gib(self, medium: str) -> float:
        return sum(disk.size_gib * disk.count for disk in self.disks if disk.medium == medium)

    def mib_s(self, medium: str) -> float | None:
        """Sequential rate of all its disks of a medium; None if a disk has no rate."""
        disks = [disk for disk in self.disks if disk.medium == medium]
        rates = [disk.mib_s * disk.count for disk in disks if disk.mib_s is not None]
        return sum(rates) if disks and len(rates) == len(disks) else None


class MeasuredOn(FiniteModel):
    """The host on which the model's points were measured."""

    name: str
    cores: int = Field(ge=1)


class Site(FiniteModel):
    usd_per_kwh: float = Field(ge=0)
    pue: float = Field(ge=1)
    price_error: float = Field(
        0.1, ge=0, lt=1, description="half width of the 90 % range of prices"
    )


class Catalogue(FiniteModel):
    format: Literal[1]
    catalogue: str
    date: datetime.date
    price_basis: str = Field(min_length=1)
    measured_on: MeasuredOn
    site: Site
    hosts: tuple[HostType, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [host.name for host in self.hosts]
        if len(set(names)) < len(names):
            raise ValueError("two host types have the same name")
        return self


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
