"""`Plan`, the planner's answer, and `Excuse`, why there is none. Both as JSON, with a format version."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.capacity.plan.quantiles import Quantiles
from cluster.model.errors import InputError

FORMAT: Literal[1] = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Load(_Frozen):
    """Utilization of a resource, whole cluster and with one host lost, over the draws."""

    resource: str
    rho: Quantiles
    rho_one_lost: Quantiles
    limit: float


class StageRow(_Frozen):
    stage: str
    medium: str = Field(description="of its data; - where it moves none")
    hours: Quantiles = Field(description="service time of one genome, without waiting")
    share: Quantiles = Field(description="of the compute slots, at the busiest hour")


class Evidence(_Frozen):
    """What a number rests on."""

    number: str
    rests_on: str
    tag: str


class Alternative(_Frozen):
    host_type: str
    vms_per_host: int
    media: tuple[str, ...]
    hosts: int
    usd_per_genome: float
    bottleneck: str


class Survival(_Frozen):
    """With any one host gone (all hosts are of one type): the chance that every promise still holds."""

    all_promises: float
    turnaround_p95_h: Quantiles | None


class Plan(_Frozen):
    format: Literal[1] = FORMAT
    kind: Literal["plan"] = "plan"
    created: str
    genomes_per_day: float
    profile: str
    promises: tuple[str, ...]
    host_type: str
    hosts: int
    hosts_needed: Quantiles = Field(description="by draw, with one host lost")
    vms_per_host: int
    vms: int
    medium_sequential: str
    medium_random: str
    usd_per_genome: Quantiles = Field(description="of the hosts each draw needs, and prices")
    usd_per_genome_as_bought: float
    usd_3_years_per_genome_a_day: float
    usd_per_hour: float
    operations_per_usd_hour: dict[str, float]
    headroom: Quantiles = Field(
        description="genomes a day the hosts carry over those asked, less 1"
    )
    bottleneck: str
    bottleneck_share: float = Field(description="of the draws in which it is the bottleneck")
    loads: tuple[Load, ...]
    stages: tuple[StageRow, ...]
    turnaround_p95_h: Quantiles | None
    query_p95_s: Quantiles | None
    survival: Survival
    storage_tib: dict[str, Quantiles]
    sensitivity: tuple[str, ...] = Field(description="what would change the answer")
    evidence: tuple[Evidence, ...]
    alternatives: tuple[Alternative, ...]
    left_out: tuple[str, ...] = Field(description="host types, densities and media not considered")
    warnings: tuple[str, ...]
    price_basis: str
    price_date: str
    hold_out: str = Field(description="the model's error on cells it has not seen")
    draws: int
    seed: int


class Excuse(_Frozen):
    """No plan: what does not fit, and what to measure or change next."""

    format: Literal[1] = FORMAT
    kind: Literal["excuse"] = "excuse"
    created: str
    genomes_per_day: float
    profile: str
    promises: tuple[str, ...]
    reasons: tuple[str, ...]
    next_steps: tuple[str, ...]


Answer = Annotated[Plan | Excuse, Field(discriminator="kind")]
_ANSWER: TypeAdapter[Any] = TypeAdapter(Answer)
PLAN = "capacity-plan.json"
"""Beside a run's report."""


def read_answer(path: Path) -> Plan | Excuse:
    """InputError for a file that is neither, or of a format this version does not know."""
    try:
        found: Plan | Excuse = _ANSWER.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            "it is no plan that this version reads.", str(path), "plan again: study capacity size."
        ) from error
    return found
