"""A plan in words, for both the command and the report."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.capacity.plan.plan import Plan, Quantiles


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
        f"{plan.hosts} hosts of type {plan.host_type}, {vms} each, {media}: {plan.genomes_per_day:g} "
        f"genomes/day at {plan.usd_per_genome_as_bought:.2f} USD per genome."
    )


def _vms(count: int) -> str:
    return "1 VM" if count == 1 else f"{count} VMs"


def facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """(name, value) lines of a plan."""
    yield "SLOs", ", ".join(plan.slos) or "none except utilization"
    yield "hosts needed, one failed", spread(plan.hosts_needed, ".0f")
    yield "cost per genome, USD", spread(plan.usd_per_genome, ".2f")
    yield "3 years, per daily genome, USD", f"{plan.usd_3_years_per_daily_genome:,.0f}"
    yield "headroom with all hosts", spread(plan.headroom, ".0%")
    yield "bottleneck", f"{plan.bottleneck} (in {plan.bottleneck_share:.0%} of draws)"
    if plan.turnaround_p95_h is not None:
        yield "turnaround, h", spread(plan.turnaround_p95_h, ".1f")
    if plan.survival.turnaround_p95_h is not None:
        yield "turnaround, one host failed, h", spread(plan.survival.turnaround_p95_h, ".1f")
    if plan.query_p95_s is not None:
        yield "query, s", spread(plan.query_p95_s, ".2f")
    yield "all SLOs met with any one host failed", f"with probability {plan.survival.all_slos:.0%}"
    for medium, tib in plan.storage_tib.items():
        yield f"data on {medium}, TiB", spread(tib, ",.0f")
    for resource, rate in plan.operations_per_usd_hour.items():
        yield f"{resource} per second, per USD per hour", f"{rate:,.0f}"
    yield "prices", f"{plan.price_basis}, {plan.price_date}"
