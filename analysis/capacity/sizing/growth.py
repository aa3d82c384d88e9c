"""Growth: when existing hosts are full, and the hosts of each year.

The load grows by a share of itself each year. It is full when the load exceeds what all resources but storage
carry, or when the data kept by then no longer fit on the disks with one host failed, in one draw of ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from math import exp, log

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.question import check_load
from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.plan.carried import Full, Year
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate, Key
from density_study.analysis.capacity.sizing.demand import Demand
from density_study.analysis.capacity.sizing.sized import Sizing
from density_study.analysis.capacity.sizing.standing import Standing
from density_study.cluster.model.errors import InputError

YEAR_DAYS = 365.25
MOST_YEARS = 30
PRECISION_DAYS = 0.5


@dataclass(frozen=True)
class Growth:
    """today: genomes per day. per_year: growth as a share, 0.3 for 30 %."""

    today: float
    per_year: float
    years: int = 5
    start: date | None = None

    def load(self, days: float) -> float:
        """Genomes per day after `days`."""
        return self.today * exp(self._rate * days)

    def part(self, share: float) -> Growth:
        """The growth of a share of the load."""
        return replace(self, today=self.today * share)

    @property
    def first_day(self) -> date:
        return self.start or datetime.now(UTC).date()

    @property
    def _rate(self) -> float:
        return log(1 + self.per_year) / YEAR_DAYS

    def days_until(self, load: float) -> float | None:
        """Days until the growing load reaches `load`; 0 if it already does, None if it never will."""
        if self.today >= load:
            return 0.0
        return log(load / self.today) / self._rate if self._rate else None

    def genomes(self, days: float, kept_days: Floats) -> Floats:
        """Genomes that arrived in the last `kept_days` (draws,) of `days` from now (draws,)."""
        since = np.maximum(0.0, days - kept_days)
        if not self._rate:
            return self.today * (days - since)
        grown: Floats = (
            self.today / self._rate * (exp(self._rate * days) - np.exp(self._rate * since))
        )
        return grown


def growth(today: float, per_year: str, years: int) -> Growth:
    """`30%` or `0.3`. InputError for a load that is not plausible, a growth below 0 or beyond tenfold, or one
    above 1 without a percent sign, which may be a share or a percentage."""
    percent = per_year.endswith("%")
    try:
        share = float(per_year.removesuffix("%")) / (100 if percent else 1)
        if not 0 <= share <= 9:
            raise ValueError
    except ValueError as error:
        raise InputError(
            f"{per_year!r} is not a growth from 0 to 900 % per year.",
            "--growth",
            "write 30% or 0.3.",
        ) from error
    if share > 1 and not percent:
        raise InputError(
            f"a growth of {share:g} may mean {share:g} % or {100 * share:g} % a year.",
            "--growth",
            f"write {share:g}% or {100 * share:g}%.",
        )
    check_load(today, "--today")
    if not 1 <= years <= MOST_YEARS:
        raise InputError(f"{years} years.", "--years", f"give 1 to {MOST_YEARS}.")
    return Growth(today, share, years)


def full(standing: Standing, key: Key, grows: Growth) -> tuple[Full, ...]:
    """When the load and when the data reach their limits; the earliest first."""
    unlimited = replace(standing, storage=False, densities=(key[0],))
    carried = unlimited.carried()
    limits = []
    if carried is not None:
        load = carried[0]
        words = f"the load reaches {load:.3g} genomes/day"
        limits.append(_full(words, grows.days_until(load), grows))
    one = standing.candidate(key, grows.today)
    if one is not None:
        for disk_type in one.space_gib:
            limits.append(
                _full(
                    f"data fill the disks of {disk_type}",
                    _disks(one, disk_type, standing, grows),
                    grows,
                )
            )
    return tuple(sorted(limits, key=lambda one: float("inf") if one.days is None else one.days))


def _full(limit: str, days: float | None, grows: Growth) -> Full:
    if days is None or days > MOST_YEARS * YEAR_DAYS:
        return Full(limit=limit, days=None, date=None)
    at = grows.first_day + timedelta(days=int(days))
    return Full(limit=limit, days=days, date=at.isoformat())


def _disks(one: Candidate, disk_type: str, standing: Standing, grows: Growth) -> float | None:
    """Days until the data of a disk type no longer fit with one host failed; None if they always do."""
    space = one.space(disk_type, standing.count - 1)

    def fits(days: float) -> bool:
        gib = kept_gib(one, disk_type, grows, days)
        return float(not_exceeded(gib, SURE)) <= space

    if not fits(0.0):
        return 0.0
    low, high = 0.0, MOST_YEARS * YEAR_DAYS
    if fits(high):
        return None
    while high - low > PRECISION_DAYS:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def starting_data(one: Candidate) -> str:
    """What the dates assume of the disks today: nobody measured it."""
    count = one.demand.profile.storage.genomes_at_start
    held = f"hold {count:,} genomes" if count else "are empty"
    return (
        f"the date when data fill the disks assumes that these {held} today (genomes_at_start of the "
        "profile's storage); the load carried, and the hosts of each year, count all that such a load keeps"
    )


def kept_gib(one: Candidate, disk_type: str, grows: Growth, days: float) -> Floats:
    """GiB on a disk type after `days`, with replicas and scratch space (draws,)."""
    demand: Demand = one.demand
    storage = demand.profile.storage
    total = np.zeros(demand.question.draws)
    for kept in storage.kept:
        place = one.disk_type_random if kept.access == "random" else one.disk_type_sequential
        if place == disk_type:
            genomes = grows.genomes(days, demand.drawn[f"storage.{kept.name}.days"])
            gib = demand.drawn[f"storage.{kept.name}.gib"]
            total = total + gib * (genomes + storage.genomes_at_start) * one.copies(place)
    if disk_type == one.disk_type_sequential and demand.profile.stages:
        then = replace(demand, question=replace(demand.question, genomes_per_day=grows.load(days)))
        total = total + then.scratch_gib(one.path_s())
    result: Floats = total
    return result


def years(standing: Standing, key: Key, grows: Growth) -> Iterator[Year]:
    """The hosts of this type that each year needs, as `size` would buy them for its end; never fewer than the
    year before. A later year has none if an earlier one has none."""
    host, site = standing.host, standing.search.catalogue.site
    hosts: int | None = 0
    for year in range(1, grows.years + 1):
        load = grows.load(year * YEAR_DAYS)
        one = standing.candidate(key, load) if hosts is not None else None
        least = None if one is None else Sizing(one).least()
        hosts = None if least is None or hosts is None else max(hosts, least)
        priced = hosts is not None and host.is_priced
        fixed_usd = 0.0 if one is None else one.fixed_usd
        yield Year(
            year=year,
            genomes_per_day=load,
            hosts=hosts,
            usd=((hosts or 0) * host.usd_per_day(site) + fixed_usd) * YEAR_DAYS if priced else None,
            kw=hosts * host.kw if hosts is not None and host.kw else None,
            rack_units=hosts * host.rack_units if hosts is not None and host.rack_units else None,
        )
