"""Output of `study capacity size` and `whatif`: a plan, an excuse (why no plan fits), the what-if table, and
how a measured profile differs from the shipped one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType, group
from rich.table import Table
from rich.text import Text

from density_study.analysis.capacity.inputs.measured import BASE, Difference
from density_study.analysis.capacity.inputs.ranged import UncertainValue
from density_study.analysis.capacity.plan.operations import (
    OperationsPlan,
    changed_words,
    operations_facts,
    operations_sentence,
)
from density_study.analysis.capacity.plan.plan import Excuse, Plan, facts, plan_sentence, spread
from density_study.analysis.capacity.plan.words import resource_words
from density_study.analysis.capacity.sizing.size import WhatIf
from density_study.dags.cli.layout import titled

SHOWN_ROWS = 40


@group()
def plan_page(plan: Plan) -> Iterator[RenderableType]:
    """One page: the cluster to buy, its uncertainty, the reasons, and what would change the plan."""
    yield Text(plan_sentence(plan), style="bold")
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in facts(plan):
        table.add_row(name, value)
    yield table
    header = ("resource", "utilization", "one host failed", "limit")
    yield titled("utilization, median (90 % range)", header, (
        (resource_words(load.resource), spread(load.rho, ".0%"), spread(load.rho_one_lost, ".0%"),
         f"{load.limit:.0%}")
        for load in plan.loads
    ))  # fmt: skip
    yield titled("stages of one genome", ("stage", "disk type", "hours", "share of slots"), (
        (stage.stage, stage.disk_type, spread(stage.hours, ".2f"), spread(stage.share, ".0%"))
        for stage in plan.stages
    ))  # fmt: skip
    yield from lines("what would change the plan", plan.sensitivity)
    yield titled("next cheapest", ("host type", "VMs/host", "disk types", "hosts", "USD/genome",
                                   "bottleneck"), (
        (one.host_type, str(one.vms_per_host), " + ".join(dict.fromkeys(one.disk_types)), str(one.hosts),
         f"{one.usd_per_genome:.2f}", resource_words(one.bottleneck))
        for one in plan.alternatives
    ))  # fmt: skip
    yield from lines("warnings", map(resource_words, plan.warnings))
    yield from lines("not considered", plan.left_out)
    yield Text(f"evidence: {len(plan.evidence)} entries in the plan's JSON; {plan.hold_out}")


def answer_page(found: Plan | OperationsPlan | Excuse) -> RenderableType:
    if isinstance(found, Excuse):
        return excuse_page(found)
    return plan_page(found) if isinstance(found, Plan) else operations_page(found)


@group()
def operations_page(plan: OperationsPlan) -> Iterator[RenderableType]:
    """The answer in one sentence, its numbers, what would change it, and what else was possible."""
    yield Text(operations_sentence(plan), style="bold")
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in operations_facts(plan):
        table.add_row(name, value)
    yield table
    yield from lines("what would change it", [changed_words(one, plan) for one in plan.changes])
    header = ("host type", "VMs/host", "disk type", "hosts", "clusters", "USD/hour")
    if plan.alternatives:
        yield titled("next cheapest", header, (
            (one.host_type, str(one.vms_per_host), one.disk_type, str(one.hosts), str(one.clusters),
             f"{one.usd_per_hour:.2f}")
            for one in plan.alternatives
        ))  # fmt: skip
    yield from lines("warnings", plan.warnings)
    yield from lines("not considered", plan.left_out)


def lines(title: str, texts: Iterable[str]) -> Iterator[RenderableType]:
    """A titled list; nothing if it is empty."""
    shown = [Text(f"  {text}") for text in texts]
    if shown:
        yield Text(f"{title}:")
        yield from shown


def warnings_page(warnings: Iterable[str]) -> RenderableType:
    """What a text for other programs has no place for."""
    return Group(*lines("warnings", map(resource_words, dict.fromkeys(warnings))))


def excuse_page(excuse: Excuse) -> RenderableType:
    """Why no plan fits, and what to do next."""
    return Group(
        Text(f"no plan for {excuse.requested}", style="bold yellow"),
        *lines("what does not fit", excuse.reasons),
        *lines("what to do next", excuse.next_steps),
    )


def whatif_page(
    rows: Sequence[WhatIf], rejected: Sequence[str], warnings: Sequence[str]
) -> RenderableType:
    """One row per density, disk type and host type, the cheapest first."""
    header = ("host type", "VMs/host", "disk types", "hosts", "needed (90 %)", "USD/genome", "90 % range",
              "bottleneck")  # fmt: skip
    more = len(rows) - SHOWN_ROWS
    tail = [Text(f"and {more} more")] if more > 0 else []
    return Group(
        titled(None, header, map(_whatif_row, rows[:SHOWN_ROWS])),
        *tail,
        *lines("not considered", rejected[:SHOWN_ROWS]),
        *lines("warnings", warnings),
    )


def _whatif_row(row: WhatIf) -> Sequence[str]:
    need, low, high = row.hosts_needed, row.usd_per_genome_low, row.usd_per_genome_high
    needed = spread(need, ".0f")
    return (
        row.host_type,
        str(row.vms_per_host),
        row.disk_types,
        "-" if row.hosts is None else str(row.hosts),
        "no number suffices" if row.hosts is None else needed,
        "-" if row.usd_per_genome is None else f"{row.usd_per_genome:.2f}",
        "-" if low is None or high is None else f"{low:.2f} to {high:.2f}",
        resource_words(row.bottleneck),
    )


def differences_page(found: Sequence[Difference]) -> RenderableType:
    """What one genome needs, stage by stage: measured, and shipped. Ranges are in the plan's evidence."""
    header = ("stage", f"{BASE}'s stage", "core-hours", BASE, "ratio", "GiB", BASE, "MiB read", BASE,
              "MiB written", BASE)  # fmt: skip
    notes = [f"{one.stage}: {one.note}" for one in found if one.note]
    return Group(
        titled("one genome, measured and shipped", header, map(_difference_row, found)),
        *lines("notes", notes),
    )


def _difference_row(one: Difference) -> Sequence[str]:
    both = (one.measured, one.shipped)
    hours = [stage.core_hours if stage else None for stage in both]
    measured, shipped = hours
    ratio = f"{measured.value / shipped.value:.2f}" if measured and shipped else "-"
    return (
        one.stage,
        one.shipped.name if one.shipped else "-",
        *map(_number, hours),
        ratio if one.measured is not one.shipped else "-",
        *(_number(stage.ram_gib if stage else None) for stage in both),
        *(
            _number(stage.demands.get(resource) if stage else None)
            for resource in ("hdfs_read", "hdfs_write")
            for stage in both
        ),
    )


def _number(value: UncertainValue | None) -> str:
    return "-" if value is None else f"{value.value:.3g}"
