"""Output of `study capacity size` and `whatif`: a plan, an excuse (why no plan fits), the what-if table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.capacity.plan.plan import Excuse, Plan
from analysis.capacity.sizing.plan_text import facts, plan_sentence, spread
from analysis.capacity.sizing.what_if import WhatIf

SHOWN_ROWS = 40


def plan_page(plan: Plan) -> RenderableType:
    """One page: the cluster to buy, its uncertainty, the reasons, and what would change the plan."""
    return Group(*_plan_parts(plan))


def _plan_parts(plan: Plan) -> Iterator[RenderableType]:
    yield Text(plan_sentence(plan), style="bold")
    table = Table(box=box.SIMPLE, show_header=False)
    for name, value in facts(plan):
        table.add_row(name, value)
    yield table
    yield _loads(plan)
    yield _stages(plan)
    yield from _lines("what would change the plan", plan.sensitivity)
    yield _alternatives(plan)
    yield from _lines("warnings", plan.warnings)
    yield from _lines("not considered", plan.left_out)
    yield Text(f"evidence: {len(plan.evidence)} entries in the plan's JSON; {plan.hold_out}")


def _loads(plan: Plan) -> Table:
    table = Table("resource", "utilization", "one host failed", "limit", box=box.SIMPLE_HEAD,
                  title="utilization, median (q05 to q95)", title_justify="left")  # fmt: skip
    for load in plan.loads:
        table.add_row(
            load.resource,
            spread(load.rho, ".0%"),
            spread(load.rho_one_lost, ".0%"),
            f"{load.limit:.0%}",
        )
    return table


def _stages(plan: Plan) -> Table:
    table = Table("stage", "medium", "hours", "share of slots", box=box.SIMPLE_HEAD,
                  title="stages of one genome", title_justify="left")  # fmt: skip
    for stage in plan.stages:
        table.add_row(
            stage.stage, stage.medium, spread(stage.hours, ".2f"), spread(stage.share, ".0%")
        )
    return table


def _alternatives(plan: Plan) -> Table:
    table = Table("host type", "VMs/host", "media", "hosts", "USD/genome", "bottleneck",
                  box=box.SIMPLE_HEAD, title="next cheapest", title_justify="left")  # fmt: skip
    for one in plan.alternatives:
        table.add_row(one.host_type, str(one.vms_per_host), " + ".join(dict.fromkeys(one.media)),
                      str(one.hosts), f"{one.usd_per_genome:.2f}", one.bottleneck)  # fmt: skip
    return table


def _lines(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    if lines:
        yield Text(f"{title}:")
        yield from (Text(f"  {line}") for line in lines)


def excuse_page(excuse: Excuse) -> RenderableType:
    """Why no plan fits, and what to do next."""
    return Group(
        Text(f"no plan for {excuse.genomes_per_day:g} genomes per day", style="bold yellow"),
        *_lines("what does not fit", excuse.reasons),
        *_lines("what to do next", excuse.next_steps),
    )


def whatif_page(rows: Sequence[WhatIf], rejected: Sequence[str]) -> RenderableType:
    """One row per density, medium and host type, the cheapest first."""
    table = Table("host type", "VMs/host", "media", "hosts", "needed, q05 50 95", "USD/genome",
                  "q05 to q95", "bottleneck", box=box.SIMPLE_HEAD)  # fmt: skip
    for row in rows[:SHOWN_ROWS]:
        need = row.hosts_needed
        needed = (
            "no number suffices"
            if row.hosts is None
            else f"{need.q05:.0f} {need.q50:.0f} {need.q95:.0f}"
        )
        bought = "-" if row.hosts is None else str(row.hosts)
        cost = "-" if row.usd_per_genome is None else f"{row.usd_per_genome:.2f}"
        low, high = row.usd_per_genome_low, row.usd_per_genome_high
        band = "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"
        table.add_row(
            row.host_type,
            str(row.vms_per_host),
            row.media,
            bought,
            needed,
            cost,
            band,
            row.bottleneck,
        )
    more = len(rows) - SHOWN_ROWS
    tail = [Text(f"and {more} more")] if more > 0 else []
    return Group(table, *tail, *_lines("not considered", rejected[:SHOWN_ROWS]))
