"""Output of `study capacity fit` and `check`, as rich tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.capacity.accuracy.goals import JUDGED_PERCENTILE, Goal
from analysis.capacity.accuracy.hold_out import Miss
from analysis.capacity.accuracy.hold_out_load import LoadMiss
from analysis.capacity.curves.model import Model
from analysis.capacity.inputs.points import Arm

SHOWN_MISSES = 10
SHOWN_LEVELS = 64
SHOWN_EXCUSES = 12


def model_page(model: Model) -> RenderableType:
    """The fitted curves with their domains and errors, and the reasons why others were not fitted."""
    sources = ", ".join(model.sources) or "no file"
    parts: list[RenderableType] = [Text(f"{len(model.points)} points from {sources}")]
    if model.scaling:
        parts.append(_scaling(model))
    if model.density:
        parts.append(_density(model))
    if model.utilization or model.latency:
        parts.append(_load(model))
    parts += [
        Text(f"interaction of hosts and density, {one.group} on {one.medium}: {one.verdict}"
             + ("" if one.p is None else f" (p = {one.p:.2g})"))
        for one in model.interactions
    ]  # fmt: skip
    parts += [Text(f"cliff: {warning}", style="yellow") for warning in model.warnings]
    parts += [
        Text(f"not fitted: {excuse}", style="yellow") for excuse in model.excuses[:SHOWN_EXCUSES]
    ]
    left = len(model.excuses) - SHOWN_EXCUSES
    if left > 0:
        parts.append(Text(f"and {left} more; the model file lists them", style="yellow"))
    return Group(*parts)


def _scaling(model: Model) -> Table:
    table = Table("group", "medium", "VMs/host", "a, s", "b, s", "c, s", "hosts", "90 % inside", "above",
                  title="T(n) = a + b/n + c n", title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    for one in model.scaling:
        table.add_row(
            one.group, one.medium, str(one.vms_per_host),
            f"{one.a_s:.3g}", f"{one.b_s:.3g}", f"{one.c_s:.3g}",
            f"{one.smallest_hosts} to {one.largest_hosts} ({len(one.cells)})",
            f"± {one.error.inside:.0%}", f"± {one.error.above:.0%}",
        )  # fmt: skip
    return table


def _density(model: Model) -> Table:
    table = Table("group", "medium", "hosts", "g, 1/s", "alpha", "beta", "densities", "",
                  title="X(v) = g v / (1 + alpha (v-1) + beta v (v-1))",
                  title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    for one in model.density:
        flags = ["superlinear"] if one.superlinear else []
        flags += [] if one.beta_fitted else ["beta not fitted"]
        table.add_row(
            one.group, one.medium, str(one.hosts), f"{one.g_per_s:.4g}", f"{one.alpha:.3f}",
            f"{one.beta:.4f}", ", ".join(str(cell.x) for cell in one.cells), ", ".join(flags),
        )  # fmt: skip
    return table


def _load(model: Model) -> Table:
    table = Table("group", "medium", "hosts", "VMs/host", "law", "fitted up to",
                  title="under load", title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    for one in model.utilization:
        law = f"CPU % = {one.idle_percent:.1f} + {one.percent_per_rate:.3g} X"
        table.add_row(one.group, one.medium, str(one.hosts), str(one.vms_per_host), law,
                      f"X = {one.largest_rate:.4g}/s")  # fmt: skip
    for curve in model.latency:
        law = (f"{curve.operation} p{curve.percentile:g} = {1e3 * curve.service_s:.3g} ms, "
               f"k = {curve.factor:.2g}, c = {curve.servers:g}").strip()  # fmt: skip
        if curve.of_cpu:
            law += f", of CPU = {curve.idle:.0%} + {curve.busy_per_rho:.2f} rho"
        table.add_row(curve.group, curve.medium, str(curve.hosts), str(curve.vms_per_host), law,
                      f"rho = {curve.largest_rho:.2f}")  # fmt: skip
    return table


def check_page(
    misses: Sequence[Miss],
    goals: Sequence[Goal],
    mode: str,
    under_load: Sequence[LoadMiss] = (),
    left_out: Sequence[tuple[Arm, str]] = (),
) -> RenderableType:
    """The goals with their outcomes, each group, the largest misses, the points that could not be used,
    and each held-out level of load."""
    table = Table("goal", "measured", "goal value", "outcome",
                  title=f"hold-out by {mode}: {len(misses)} cells",
                  title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    styles = {"met": "green", "missed": "bold red", "unknown": "yellow", "printed": ""}
    for goal in goals:
        table.add_row(
            goal.name, goal.value, goal.goal, Text(goal.outcome, style=styles[goal.outcome])
        )
    parts: list[RenderableType] = [table, _groups(misses), _worst(misses)]
    if under_load:
        parts.append(_levels(under_load))
    parts += [
        Text(f"not used: {group} on {medium}, {v} VMs per host: {reason}", style="yellow")
        for (group, medium, v), reason in left_out
    ]
    return Group(*parts)


def _groups(misses: Sequence[Miss]) -> Table:
    table = Table("group", "medium", "VMs/host", "cells", "error, median", "largest", "1/n, median",
                  "covered", title="by group", title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    arms: dict[Arm, list[Miss]] = {}
    for miss in misses:
        arms.setdefault(miss.arm, []).append(miss)
    for (group, medium, v), found in arms.items():
        errors = [miss.error for miss in found]
        plain = [m.baseline_error for m in found if m.baseline_error is not None]
        covered = f"{sum(m.covered for m in found)} of {sum(m.repetitions for m in found)}"
        table.add_row(
            group, medium, str(v), str(len(found)), f"{median(errors):.1%}", f"{max(errors):.1%}",
            f"{median(plain):.1%}" if plain else "", covered,
        )  # fmt: skip
    return table


def _worst(misses: Sequence[Miss]) -> Table:
    table = Table("group", "medium", "hosts", "VMs/host", "measured", "predicted", "90 % interval", "unit",
                  "error", title="largest misses", title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    for miss in sorted(misses, key=lambda one: -one.error)[:SHOWN_MISSES]:
        low, high = sorted((miss.shown(miss.low_s), miss.shown(miss.high_s)))
        table.add_row(
            miss.group, miss.medium, str(miss.hosts), str(miss.vms_per_host),
            f"{miss.shown(miss.measured_s):.4g}", f"{miss.shown(miss.predicted_s):.4g}",
            f"{low:.4g} to {high:.4g}", miss.unit, f"{miss.error:.1%}",
        )  # fmt: skip
    return table


def _levels(misses: Sequence[LoadMiss]) -> Table:
    judged = [one for one in misses if one.percentile in (None, JUDGED_PERCENTILE)]
    judged.sort(
        key=lambda m: (
            m.group,
            m.medium,
            m.hosts,
            m.vms_per_host,
            m.quantity,
            m.busy is None,
            m.load,
        )
    )
    left = len(judged) - SHOWN_LEVELS
    more = f"; {left} more are not shown" if left > 0 else ""
    table = Table("group", "medium", "hosts", "VMs/host", "load, 1/s", "repetitions", "", "measured",
                  "predicted", "miss", title=f"under load: {len(judged)} levels{more}",
                  title_justify="left", box=box.SIMPLE_HEAD)  # fmt: skip
    for one in judged[:SHOWN_LEVELS]:
        if one.quantity == "latency":
            at = "" if one.busy is None else f" at {one.busy:.0%} CPU"
            name, factor, form = f"p{one.percentile:g}{at}", 1e3, "{:.3g} ms"
            miss = f"{one.miss:.1%}"
        else:
            name, factor, form, miss = "CPU", 1.0, "{:.1f} %", f"{one.miss:.1f} points"
        values = (form.format(factor * one.measured), form.format(factor * one.predicted))
        table.add_row(
            one.group, one.medium, str(one.hosts), str(one.vms_per_host), f"{one.load:.4g}",
            str(one.repetitions), name, *values, miss,
        )  # fmt: skip
    return table
