"""`Carried`, the result of `carry`: what existing hosts carry, and when they are full."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from density_study.analysis.capacity.plan.plan import Load, Quantiles
from density_study.analysis.capacity.plan.words import resource_words
from density_study.workloads.base.values import Frozen


class Change(Frozen):
    """What the same cluster would carry with one more part. genomes_per_day None: no load, or see `why`."""

    change: str
    genomes_per_day: float | None
    relative: float | None = Field(description="over what it carries today, minus 1")
    why: str = Field("", description="what was not measured, or does not fit")


class Year(Frozen):
    """A year of growth, at its end. hosts None: no count that the measurements allow is enough."""

    year: int
    genomes_per_day: float
    hosts: int | None
    usd: float | None = Field(description="cost of the year, for these hosts; None without a price")
    kw: float | None = None
    rack_units: float | None = None


class Purchase(Frozen):
    """One host type over all years. usd None: in some year no count is enough."""

    host_type: str
    price: str = Field(description="bought, on demand, or reserved for a term")
    vms_per_host: int
    disk_types: tuple[str, ...]
    years: tuple[Year, ...]
    usd: float | None = Field(description="cost of all years, with whole terms")
    usd_per_genome: float | None
    warnings: tuple[str, ...] = ()
    example: tuple[str, ...] = ()


class Full(Frozen):
    """When a limit is reached. days None: not within the years that were looked at."""

    limit: str
    days: float | None
    date: str | None


class Carried(Frozen):
    format: Literal[1] = 1
    kind: Literal["carried"] = "carried"
    created: str
    profile: str
    slos: tuple[str, ...]
    host_type: str
    hosts: int
    vms_per_host: int
    disk_type_sequential: str
    disk_type_random: str
    genomes_per_day: float = Field(
        description="the largest load that meets every SLO in nine of ten draws, with one host failed"
    )
    holds: float = Field(description="that probability at this load")
    bottleneck: str = Field(description="the limit that most draws miss at a load 2 % larger")
    missed: float = Field(description="share of draws that miss any limit at that load")
    loads: tuple[Load, ...]
    turnaround_p95_h: Quantiles | None
    changes: tuple[Change, ...]
    today: float | None = Field(None, description="genomes per day today")
    growth: float | None = Field(None, description="growth of the load in a year, as a share")
    full: tuple[Full, ...] = Field((), description="earliest first")
    years: tuple[Year, ...] = ()
    warnings: tuple[str, ...] = ()
    example: tuple[str, ...] = ()


def carried_sentence(found: Carried) -> str:
    """What the hosts carry, in one sentence."""
    count = found.vms_per_host
    vms = f"{count} VM{'s' * (count > 1)} each" if count else "bare"
    label = "EXAMPLE, made-up figures: " if found.example else ""
    bottleneck = resource_words(found.bottleneck)
    text = (
        f"{label}{found.hosts} hosts of type {found.host_type}, {vms}, carry {found.genomes_per_day:g} "
        f"genomes/day with a probability of {found.holds:.0%}, one host failed; {bottleneck} "
        "fails first"
    )
    first = next((one for one in found.full if one.days is not None), None)
    if first is None:
        return f"{text}."
    if not first.days:
        return f"{text}. They are full today, at {found.today:g}: {first.limit}."
    return (
        f"{text}. At {found.growth:.0%} growth a year they are full on {first.date}: {first.limit}."
    )
