"""`Plan`, the result of sizing, and `Excuse`, why there is none: as versioned JSON, and in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from density_study.analysis.capacity.plan.words import rate_words, resource_words
from density_study.cluster.model.errors import InputError
from density_study.cluster.old_names import present
from density_study.cluster.state.plain_file import read_below
from density_study.workloads.base.values import Frozen

FORMAT: Literal[2] = 2


def utc_now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


class Quantiles(Frozen):
    """q05, q50 and q95 of a result over the uncertainty draws."""

    q05: float
    q50: float
    q95: float


class CurvePoint(Frozen):
    x: float
    value: Quantiles


class Curve(Frozen):
    """A prediction with its interval, what it has to keep, and the place that was chosen."""

    title: str
    x: str = Field(description="what the horizontal axis shows, with its unit")
    y: str = Field(description="what the vertical axis shows, with its unit")
    points: tuple[CurvePoint, ...]
    limit: float | None = Field(
        None, description="on the vertical axis: the requested load, or an SLO"
    )
    limit_words: str = ""
    chosen: float | None = Field(None, description="on the horizontal axis: what the plan has")
    margin: Quantiles | None = Field(
        None, description="at `chosen`, to the limit, as a share of it"
    )


class Load(Frozen):
    """Utilization of a resource over the draws, with all hosts and with one host failed."""

    resource: str
    rho: Quantiles
    rho_one_lost: Quantiles
    limit: float


class StageRow(Frozen):
    stage: str
    disk_type: str = Field(description="disk type of its data; - if it moves none")
    hours: Quantiles = Field(description="service time of one genome, without waiting")
    share: Quantiles = Field(description="share of the compute slots, in the busiest hour")


class Evidence(Frozen):
    """The source of a number."""

    number: str
    based_on: str
    tag: str


class Alternative(Frozen):
    host_type: str
    vms_per_host: int
    disk_types: tuple[str, ...]
    hosts: int
    usd_per_genome: float
    bottleneck: str


class Survival(Frozen):
    """Probability that every SLO is still met with any one of the identical hosts failed."""

    all_slos: float
    turnaround_p95_h: Quantiles | None


class Plan(Frozen):
    format: Literal[2] = FORMAT
    kind: Literal["plan"] = "plan"
    created: str
    genomes_per_day: float
    profile: str
    slos: tuple[str, ...]
    host_type: str
    hosts: int
    hosts_needed: Quantiles = Field(description="by draw, with one host failed")
    vms_per_host: int
    vms: int
    disk_type_sequential: str
    disk_type_random: str
    usd_per_genome: Quantiles = Field(
        description="cost of the hosts that each draw needs, with price errors"
    )
    usd_per_genome_as_bought: float
    usd_3_years_per_daily_genome: float
    usd_per_hour: float
    operations_per_usd_hour: dict[str, float]
    headroom: Quantiles = Field(
        description="genomes per day that the hosts carry over those required, minus 1"
    )
    bottleneck: str
    bottleneck_share: float = Field(description="share of draws in which it is the bottleneck")
    loads: tuple[Load, ...]
    stages: tuple[StageRow, ...]
    turnaround_p95_h: Quantiles | None
    query_p95_s: Quantiles | None
    survival: Survival
    storage_tib: dict[str, Quantiles]
    sensitivity: tuple[str, ...] = Field(description="what would change the result")
    evidence: tuple[Evidence, ...]
    alternatives: tuple[Alternative, ...]
    left_out: tuple[str, ...] = Field(
        description="host types, densities and disk types not considered"
    )
    warnings: tuple[str, ...]
    price_basis: str
    price_date: str
    hold_out: str = Field(description="the model's error on held-out points")
    draws: int
    seed: int
    curves: tuple[Curve, ...] = ()
    example: tuple[str, ...] = Field(
        (), description="inputs that are the shipped, made-up example; the plan is then not advice"
    )


class Excuse(Frozen):
    """No plan: the reasons, and what to measure or change next."""

    format: Literal[3] = 3
    kind: Literal["excuse"] = "excuse"
    created: str
    requested: str = Field(description="in words: the load, and of what")
    slos: tuple[str, ...]
    reasons: tuple[str, ...]
    next_steps: tuple[str, ...]


PlanOrExcuse = Annotated[Plan | Excuse, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Plan | Excuse] = TypeAdapter(PlanOrExcuse)
PLAN, PAGE = "capacity-plan.json", "capacity-plan.html"  # file names beside a run's report
MOST_BYTES = 2**26


def plan_beside(run_root: Path) -> Plan | Excuse | None:
    """The plan or excuse stored for a run; None if there is none. InputError if the file is neither, or
    of another format version."""
    path = run_root / "report" / PLAN
    if not path.exists():
        return None
    try:
        value = present(
            json.loads(read_below(run_root, f"report/{PLAN}", MOST_BYTES)), PlanOrExcuse
        )
        return _ADAPTER.validate_python(value)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            "not a plan file, or an unsupported version.",
            str(path),
            "create it again with study capacity size.",
        ) from error


def spread(value: Quantiles, form: str) -> str:
    """`median (q05 to q95)`."""
    return f"{value.q50:{form}} ({value.q05:{form}} to {value.q95:{form}})"


def plan_sentence(plan: Plan) -> str:
    """What to buy, in one sentence."""
    vms = f"{plan.vms_per_host} VM{'s' if plan.vms_per_host > 1 else ''}"
    if plan.vms_per_host == 0:
        vms = "the bare host"
    kinds = plan.disk_type_sequential
    if plan.disk_type_random != plan.disk_type_sequential:
        kinds = f"files on {plan.disk_type_sequential}, HBase on {plan.disk_type_random}"
    label = "EXAMPLE, made-up figures: " if plan.example else ""
    return (
        f"{label}{plan.hosts} hosts of type {plan.host_type}, {vms} each, {kinds}: {plan.genomes_per_day:g} "
        f"genomes/day at {plan.usd_per_genome_as_bought:.2f} USD per genome, with a probability of "
        f"{plan.survival.all_slos:.0%} that all SLOs are met with one host failed. Bottleneck: "
        f"{resource_words(plan.bottleneck)}. What changes it most: {plan.sensitivity[0]}."
    )


def facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """(name, value) lines of a plan."""
    if plan.example:
        yield "EXAMPLE inputs, not measured", ", ".join(plan.example)
    yield "SLOs", ", ".join(plan.slos) or "none except utilization"
    yield "hosts to buy", f"{plan.hosts}: enough in nine of ten draws, with one host failed"
    yield "hosts needed, median of draws", spread(plan.hosts_needed, ".0f")
    yield "USD per genome, hosts to buy", f"{plan.usd_per_genome_as_bought:.2f}"
    yield "USD per genome, hosts needed", spread(plan.usd_per_genome, ".2f")
    yield "3 years, per daily genome, USD", f"{plan.usd_3_years_per_daily_genome:,.0f}"
    yield "headroom with all hosts", spread(plan.headroom, ".0%")
    yield (
        "bottleneck",
        f"{resource_words(plan.bottleneck)} (in {plan.bottleneck_share:.0%} of draws)",
    )
    if plan.turnaround_p95_h is not None:
        yield "turnaround, h", spread(plan.turnaround_p95_h, ".1f")
    if plan.survival.turnaround_p95_h is not None:
        yield "turnaround, one host failed, h", spread(plan.survival.turnaround_p95_h, ".1f")
    if plan.query_p95_s is not None:
        yield "query, s", spread(plan.query_p95_s, ".2f")
    yield "all SLOs met with any one host failed", f"with probability {plan.survival.all_slos:.0%}"
    for disk_type, tib in plan.storage_tib.items():
        yield f"data on {disk_type}, TiB", spread(tib, ",.0f")
    for resource, rate in plan.operations_per_usd_hour.items():
        yield f"{rate_words(resource)}, per USD per hour", f"{rate:,.0f}"
    yield "prices", f"{plan.price_basis}, {plan.price_date}"
