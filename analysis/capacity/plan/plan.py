"""`Plan`, the result of sizing, and `Excuse`, why there is none. Both as JSON, with a format version."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from cluster.model.errors import InputError
from workloads.base.values import Frozen

FORMAT: Literal[2] = 2


def utc_now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


class Quantiles(Frozen):
    """q05, q50 and q95 of a result over the uncertainty draws."""

    q05: float
    q50: float
    q95: float


class Load(Frozen):
    """Utilization of a resource over the draws, with all hosts and with one host failed."""

    resource: str
    rho: Quantiles
    rho_one_lost: Quantiles
    limit: float


class StageRow(Frozen):
    stage: str
    medium: str = Field(description="medium of its data; - if it moves none")
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
    media: tuple[str, ...]
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
    medium_sequential: str
    medium_random: str
    usd_per_genome: Quantiles = Field(
        description="of the hosts that each draw needs, with price errors"
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
    left_out: tuple[str, ...] = Field(description="host types, densities and media not considered")
    warnings: tuple[str, ...]
    price_basis: str
    price_date: str
    hold_out: str = Field(description="the model's error on held-out points")
    draws: int
    seed: int


class Excuse(Frozen):
    """No plan: the reasons, and what to measure or change next."""

    format: Literal[2] = FORMAT
    kind: Literal["excuse"] = "excuse"
    created: str
    genomes_per_day: float
    profile: str
    slos: tuple[str, ...]
    reasons: tuple[str, ...]
    next_steps: tuple[str, ...]


PlanOrExcuse = Annotated[Plan | Excuse, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Any] = TypeAdapter(PlanOrExcuse)
PLAN = "capacity-plan.json"
"""File name beside a run's report."""


def read_plan_or_excuse(path: Path) -> Plan | Excuse:
    """Read a plan or an excuse. InputError if the file is neither, or of another format version."""
    try:
        found: Plan | Excuse = _ADAPTER.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            "not a plan file, or an unsupported version.",
            str(path),
            "create it again with study capacity size.",
        ) from error
    return found
