"""`OperationsPlan`: the hosts for a rate of operations, or the rate that existing hosts carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from density_study.analysis.capacity.plan.plan import Curve, Evidence, Quantiles, spread
from density_study.cluster.model.plain import capitalised, counted
from density_study.workloads.base.values import Frozen


class Changed(Frozen):
    """What another input would lead to: hosts for the load, or the load of the existing hosts."""

    change: str
    hosts: int | None = Field(description="None: no measured size carries it")
    ops_s: float | None


class OtherOption(Frozen):
    host_type: str
    vms_per_host: int
    disk_type: str
    hosts: int
    clusters: int
    usd_per_hour: float


class OperationsPlan(Frozen):
    format: Literal[1] = 1
    kind: Literal["operations"] = "operations"
    created: str
    stands: bool = Field(description="whether the hosts were given, and ops_s was found")
    ops_s: float
    group: str
    slos: tuple[str, ...]
    host_type: str
    clusters: int = Field(description="independent clusters that share the load")
    hosts_per_cluster: int = Field(description="of which one may fail")
    vms_per_host: int
    disk_type: str
    probability: float = Field(
        description="that every limit holds with one host failed in each cluster"
    )
    carried_ops_s: Quantiles = Field(
        description="within every limit, with one host failed in each cluster"
    )
    latency_ms: dict[str, Quantiles] = Field(
        description="at ops_s, with one host failed in each cluster"
    )
    utilization: Quantiles = Field(description="the same")
    bottleneck: str = Field(description="the limit that most draws meet first")
    usd_per_hour: float | None
    changes: tuple[Changed, ...]
    alternatives: tuple[OtherOption, ...] = ()
    curves: tuple[Curve, ...]
    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]
    example: tuple[str, ...] = ()
    price_basis: str
    price_date: str

    @property
    def hosts(self) -> int:
        return self.clusters * self.hosts_per_cluster


def operations_sentence(plan: OperationsPlan) -> str:
    """What to buy, or what the hosts carry, in one sentence."""
    label = "EXAMPLE, made-up figures: " if plan.example else ""
    divided = f", in {plan.clusters} clusters of {plan.hosts_per_cluster}" * (plan.clusters > 1)
    count = plan.vms_per_host
    vms = f"{count} VM{'s' * (count > 1)} each" if count else "without VMs"
    cost = "" if plan.usd_per_hour is None else f" for {plan.usd_per_hour:,.2f} USD an hour"
    kept = f" with {' and '.join(plan.slos)}" if plan.slos else ""
    failed = "one host failed in each cluster" if plan.clusters > 1 else "one host failed"
    text = (
        f"{label}{counted(plan.hosts, 'host')} of type {plan.host_type}{divided}, {vms}, on "
        f"{plan.disk_type}, carry {plan.ops_s:,.0f} operations/s of {plan.group}{kept}{cost}, with a "
        f"probability of {plan.probability:.0%} with {failed}. The first limit is {plan.bottleneck}."
    )
    change = next((one for one in plan.changes if _differs(one, plan)), None)
    return text if change is None else f"{text} {capitalised(changed_words(change, plan))}."


def _differs(one: Changed, plan: OperationsPlan) -> bool:
    return one.ops_s != plan.ops_s if plan.stands else one.hosts != plan.hosts


def changed_words(one: Changed, plan: OperationsPlan) -> str:
    if not _differs(one, plan):
        return f"{one.change}: no change"
    if plan.stands:
        found = "none" if one.ops_s is None else f"{one.ops_s:,.0f} operations/s"
        return f"{one.change}: {found} instead of {plan.ops_s:,.0f}"
    found = "no measured size" if one.hosts is None else counted(one.hosts, "host")
    return f"{one.change}: {found} instead of {plan.hosts}"


def operations_facts(plan: OperationsPlan) -> Iterator[tuple[str, str]]:
    """(name, value) lines of a plan."""
    if plan.example:
        yield "EXAMPLE inputs, not measured", ", ".join(plan.example)
    yield "limits", ", ".join(plan.slos) or "none except utilization"
    yield "operations/s within the limits, one host failed", spread(plan.carried_ops_s, ",.0f")
    yield "utilization, one host failed", spread(plan.utilization, ".0%")
    for quantity, found in plan.latency_ms.items():
        yield f"{quantity}, one host failed, ms", spread(found, ".3g")
    if plan.usd_per_hour is not None:
        yield "USD per hour", f"{plan.usd_per_hour:,.2f}"
        yield "USD per million operations", f"{plan.usd_per_hour / plan.ops_s / 3600 * 1e6:.3g}"
        yield "prices", f"{plan.price_basis}, {plan.price_date}"
