"""A plan in words, for the command and the report alike."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.capacity.plan.plan import Plan
from analysis.capacity.plan.quantiles import Quantiles


def spread(value: Quantiles, form: str) -> str:
    """`median (q05 to q95)`."""
    return f"{value.q50:{form}} ({value.q05:{form}} to {value.q95:{form}})"


def plan_sentence(plan: Plan) -> str:
    """What to buy, in one sentence."""
    vms = "the bare host" if plan.vms_per_host == 0 else _vms(plan.vms_per_host)
    media = plan.medium_sequential
    if plan.medium_random != plan.medium_sequential:
        media = f"files on {plan.medium_sequential}, HBase on {plan.medium_random}"
    return (
        f"{plan.hosts} hosts of type {plan.host_type}, {vms} each, {media}: {plan.genomes_per_day:g} genomes "
        f"a day at {plan.usd_per_genome_as_bought:.2f} USD a genome."
    )


def _vms(count: int) -> str:
    return "1 VM" if count == 1 else f"{count} VMs"


def facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """(name, value) lines of a plan."""
    yield "promises", ", ".join(plan.promises) or "none but utilization"
    yield "hosts needed, one lost", spread(plan.hosts_needed, ".0f")
    yield "cost per genome, USD", spread(plan.usd_per_genome, ".2f")
    yield "3 years, per genome a day, USD", f"{plan.usd_3_years_per_genome_a_day:,.0f}"
    yield "headroom with all hosts", spread(plan.headroom, ".0%")
    yield "bottleneck", f"{plan.bottleneck} (in {plan.bottleneck_share:.0%} of the draws)"
    if plan.turnaround_p95_h is not None:
        yield "turnaround, h", spread(plan.turnaround_p95_h, ".1f")
    if plan.survival.turnaround_p95_h is not None:
        yield "turnaround, one host lost, h", spread(plan.survival.turnaround_p95_h, ".1f")
    if plan.query_p95_s is not None:
        yield "query, s", spread(plan.query_p95_s, ".2f")
    yield "every promise kept with any one host lost", f"{plan.survival.all_promises:.0%} sure"
    for medium, tib in plan.storage_tib.items():
        yield f"data on {medium}, TiB", spread(tib, ",.0f")
    for resource, rate in plan.operations_per_usd_hour.items():
        yield f"{resource} a second per USD an hour", f"{rate:,.0f}"
    yield "prices", f"{plan.price_basis}, {plan.price_date}"
