"""The planning section: one page for the person who approves the purchase. Shows `Summary.plan`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.capacity.plan.plan import Excuse, Plan
from analysis.capacity.sizing.plan_text import facts, plan_sentence, spread
from analysis.report.charts.figure import Column, DataTable
from analysis.summary.summary import Summary

SHOWN_EVIDENCE = 40


@dataclass(frozen=True)
class Planning:
    """`headline` says what to buy, or that there is no plan. Lists may be empty."""

    headline: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, DataTable], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]


def planning(summary: Summary) -> Planning | None:
    """None if no sizing was computed from this run."""
    if summary.plan is None:
        return None
    return _plan(summary.plan) if isinstance(summary.plan, Plan) else _excuse(summary.plan)


def _excuse(excuse: Excuse) -> Planning:
    return Planning(
        headline=f"No plan for {excuse.genomes_per_day:g} genomes/day ({excuse.profile}).",
        facts=(("SLOs", ", ".join(excuse.slos) or "none"),),
        tables=(),
        lists=(("Why there is no plan", excuse.reasons), ("What to do next", excuse.next_steps)),
    )


def _plan(plan: Plan) -> Planning:
    return Planning(
        headline=plan_sentence(plan),
        facts=tuple((name[0].upper() + name[1:], value) for name, value in facts(plan)),
        tables=(
            ("Utilization", _loads(plan)),
            ("Stages of one genome", _stages(plan)),
            ("Next cheapest", _alternatives(plan)),
            ("Evidence", _evidence(plan)),
        ),
        lists=(
            ("What would change the result", plan.sensitivity),
            (
                "Warnings",
                (*plan.warnings, f"Model error on held-out points: {plan.hold_out}."),
            ),
            ("Not considered", plan.left_out),
        ),
    )


def _loads(plan: Plan) -> DataTable:
    return _table(
        ("Resource", "All hosts#", "After one host failure#", "Limit#"),
        (
            (one.resource, spread(one.rho, ".0%"), spread(one.rho_one_lost, ".0%"), f"{one.limit:.0%}")
            for one in plan.loads
        ),
    )  # fmt: skip


def _stages(plan: Plan) -> DataTable:
    return _table(
        ("Stage", "Medium", "Hours#", "Share of slots#"),
        (
            (one.stage, one.medium, spread(one.hours, ".2f"), spread(one.share, ".0%"))
            for one in plan.stages
        ),
    )


def _alternatives(plan: Plan) -> DataTable:
    return _table(
        ("Host type", "VMs per host#", "Media", "Hosts#", "USD per genome#", "Bottleneck"),
        (
            (one.host_type, str(one.vms_per_host), " + ".join(dict.fromkeys(one.media)), str(one.hosts),
             f"{one.usd_per_genome:.2f}", one.bottleneck)
            for one in plan.alternatives
        ),
    )  # fmt: skip


def _evidence(plan: Plan) -> DataTable:
    shown = plan.evidence[:SHOWN_EVIDENCE]
    return _table(
        ("Number", "Based on", "Tag"), ((one.number, one.based_on, one.tag) for one in shown)
    )


def _table(headers: Sequence[str], rows: Iterable[tuple[str, ...]]) -> DataTable:
    """A column of numbers has a # after its header."""
    columns = (Column(header.rstrip("#"), header.endswith("#")) for header in headers)
    return DataTable(tuple(columns), tuple(rows))
