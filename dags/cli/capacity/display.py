"""Output of `study capacity fit`, `check` and `explain`, as rich tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np
from rich.console import Group, RenderableType, group
from rich.text import Text

from density_study.analysis.capacity.accuracy.goals import JUDGED_PERCENTILE, Goal
from density_study.analysis.capacity.accuracy.hold_out import Miss
from density_study.analysis.capacity.accuracy.hold_out_load import LoadMiss
from density_study.analysis.capacity.curves.curve import NEAR, PLACES
from density_study.analysis.capacity.curves.explain import Explanation
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.curves.prediction import SUPPORTED
from density_study.analysis.capacity.inputs.point import Variant
from density_study.cluster.model.plain import counted
from density_study.dags.cli.layout import titled

SHOWN_MISSES = 10
SHOWN_LEVELS = 64
SHOWN_EXCUSES = 12


@group()
def model_page(model: Model) -> Iterator[RenderableType]:
    """The fitted curves with their domains and errors, and the reasons why others were not fitted."""
    sources = ", ".join(model.sources) or "no file"
    yield Text(f"{counted(len(model.points), 'point')} from {sources}")
    if model.scaling:
        header = (
            "group",
            "disk type",
            "VMs/host",
            "a, s",
            "b, s",
            "c, s",
            "hosts",
            "90 % inside",
            "above",
        )
        yield titled("T(n) = a + b/n + c n", header, (
            (one.group, one.disk_type, f"{one.vms_per_host}",
             f"{one.a_s:.3g}", f"{one.b_s:.3g}", f"{one.c_s:.3g}",
             f"{one.smallest_hosts} to {one.largest_hosts} ({len(one.cells)})",
             f"± {one.error.inside:.0%}", f"± {one.error.above:.0%}")
            for one in model.scaling
        ))  # fmt: skip
    if model.density:
        yield titled("X(v) = g v / (1 + alpha (v-1) + beta v (v-1))",
                     ("group", "disk type", "hosts", "g, 1/s", "alpha", "beta", "densities", ""),
                     _density_rows(model))  # fmt: skip
    if model.utilization or model.latency:
        yield titled("under load", ("group", "disk type", "hosts", "VMs/host", "law", "fitted up to"),
                     _load_rows(model))  # fmt: skip
    for one in model.interactions:
        p = "" if one.p is None else f" (p = {one.p:.2g})"
        yield Text(
            f"interaction of hosts and density, {one.group} on {one.disk_type}: {one.verdict}{p}"
        )
    for warning in model.warnings:
        yield Text(f"cliff: {warning}", style="yellow")
    for excuse in model.excuses[:SHOWN_EXCUSES]:
        yield Text(f"not fitted: {excuse}", style="yellow")
    if (left := len(model.excuses) - SHOWN_EXCUSES) > 0:
        yield Text(f"and {left} more; the model file lists them", style="yellow")


def _density_rows(model: Model) -> Iterator[Sequence[str]]:
    for one in model.density:
        flags = ["superlinear"] if one.superlinear else []
        flags += [] if one.beta_fitted else ["beta not fitted"]
        yield (
            one.group, one.disk_type, f"{one.hosts}", f"{one.g_per_s:.4g}", f"{one.alpha:.3f}",
            f"{one.beta:.4f}", ", ".join(str(cell.x) for cell in one.cells), ", ".join(flags),
        )  # fmt: skip


def _load_rows(model: Model) -> Iterator[Sequence[str]]:
    for one in model.utilization:
        law = f"CPU % = {one.idle_percent:.1f} + {one.percent_per_rate:.3g} X"
        limit = f"X = {one.largest_rate:.4g}/s"
        yield one.group, one.disk_type, f"{one.hosts}", f"{one.vms_per_host}", law, limit
    for curve in model.latency:
        law = (f"{curve.operation} p{curve.percentile:g} = {1e3 * curve.service_s:.3g} ms, "
               f"k = {curve.factor:.2g}, c = {curve.servers:g}").strip()  # fmt: skip
        if curve.of_cpu:
            law += f", of CPU = {curve.idle:.0%} + {curve.busy_per_rho:.2f} rho"
        limit = f"rho = {curve.largest_rho:.2f}"
        yield curve.group, curve.disk_type, f"{curve.hosts}", f"{curve.vms_per_host}", law, limit


@group()
def check_page(
    misses: Sequence[Miss],
    goals: Sequence[Goal],
    mode: str,
    under_load: Sequence[LoadMiss] = (),
    left_out: Sequence[tuple[Variant, str]] = (),
) -> Iterator[RenderableType]:
    """The goals with their outcomes, each group, the largest misses, the points that could not be used,
    and each held-out level of load."""
    styles = {"met": "green", "missed": "bold red", "unknown": "yellow", "printed": ""}
    outcomes = (
        (goal.name, goal.value, goal.goal, Text(goal.outcome, style=styles[goal.outcome]))
        for goal in goals
    )
    title = f"hold-out by {mode}: {counted(len(misses), 'cell')}"
    yield titled(title, ("goal", "measured", "goal value", "outcome"), outcomes)
    yield titled("by group", ("group", "disk type", "VMs/host", "cells", "error, median", "largest",
                              "1/n, median", "covered"), _group_rows(misses))  # fmt: skip
    yield titled("largest misses", ("group", "disk type", "hosts", "VMs/host", "measured", "predicted",
                                    "90 % interval", "unit", "error"), _miss_rows(misses))  # fmt: skip
    if under_load:
        yield _levels(under_load)
    for (name, disk_type, v), reason in left_out:
        yield Text(f"not used: {name} on {disk_type}, {v} VMs per host: {reason}", style="yellow")


def _group_rows(misses: Sequence[Miss]) -> Iterator[Sequence[str]]:
    variants: dict[Variant, list[Miss]] = {}
    for miss in misses:
        variants.setdefault(miss.variant, []).append(miss)
    for (name, disk_type, v), found in variants.items():
        errors = [miss.error for miss in found]
        plain = [m.baseline_error for m in found if m.baseline_error is not None]
        covered = f"{sum(m.covered for m in found)} of {sum(m.repetitions for m in found)}"
        yield (
            name, disk_type, str(v), str(len(found)), f"{median(errors):.1%}", f"{max(errors):.1%}",
            f"{median(plain):.1%}" if plain else "", covered,
        )  # fmt: skip


def _miss_rows(misses: Sequence[Miss]) -> Iterator[Sequence[str]]:
    for miss in sorted(misses, key=lambda one: -one.error)[:SHOWN_MISSES]:
        low, high = sorted((miss.shown(miss.low_s), miss.shown(miss.high_s)))
        yield (
            miss.group, miss.disk_type, str(miss.hosts), str(miss.vms_per_host),
            f"{miss.shown(miss.measured_s):.4g}", f"{miss.shown(miss.predicted_s):.4g}",
            f"{low:.4g} to {high:.4g}", miss.unit, f"{miss.error:.1%}",
        )  # fmt: skip


def _levels(misses: Sequence[LoadMiss]) -> RenderableType:
    judged = [one for one in misses if one.percentile in (None, JUDGED_PERCENTILE)]
    judged.sort(key=lambda m: (m.group, m.disk_type, m.hosts, m.vms_per_host, m.quantity, m.busy is None,
                               m.load))  # fmt: skip
    rows = []
    for one in judged[:SHOWN_LEVELS]:
        if one.quantity == "latency":
            at = "" if one.busy is None else f" at {one.busy:.0%} CPU"
            name, factor, form = f"p{one.percentile:g}{at}", 1e3, "{:.3g} ms"
            miss = f"{one.miss:.1%}"
        else:
            name, factor, form, miss = "CPU", 1.0, "{:.1f} %", f"{one.miss:.1f} points"
        values = (form.format(factor * one.measured), form.format(factor * one.predicted))
        rows.append((one.group, one.disk_type, str(one.hosts), str(one.vms_per_host), f"{one.load:.4g}",
                     str(one.repetitions), name, *values, miss))  # fmt: skip
    left = len(judged) - SHOWN_LEVELS
    more = f"; {left} of them not shown" if left > 0 else ""
    header = ("group", "disk type", "hosts", "VMs/host", "load, 1/s", "repetitions", "", "measured",
              "predicted", "miss")  # fmt: skip
    return titled(f"under load: {counted(len(judged), 'level')}{more}", header, rows)


def explanation_page(found: Explanation) -> RenderableType:
    """Measured levels, the laws and deviations with the largest weights, and the resulting interval."""
    laws = {row.law.name: row.law for row in found.shapes}
    notes = [f"{law.name}: {law.formula} ({law.source})" for law in laws.values()]
    title = (
        f"laws with the largest weights; T at {found.hosts} hosts, through the mean of the levels"
    )
    return Group(
        titled("measured work time", ("hosts", "repetitions", "level, s", "times, s"), (
            (str(cell.x), str(len(cell.times)), f"{level:.5g}", ", ".join(f"{s:.4g}" for s in cell.times))
            for cell, level in zip(found.curve.cells, found.curve.levels, strict=True)
        )),
        titled(title, ("law", "parameters", "weight", "T, s"), _law_rows(found)),
        Text("\n".join([f"u = hosts / {found.middle:.4g}", *notes])),
        titled("deviations from a law with the largest weights (sd of log time)",
               ("sd", "reach, in log", "sd of a build", "cliff", "weight"), _deviation_rows(found)),
        Text("\n".join(_interval(found))),
    )  # fmt: skip


def _law_rows(found: Explanation) -> Iterator[Sequence[str]]:
    for row in found.shapes:
        values = zip(row.law.parameters, row.parameters, strict=True)
        names = ", ".join(f"{name} = {value:g}" for name, value in values)
        yield row.law.name, names, f"{row.weight:.4f}", f"{row.time_s:.5g}"


def _deviation_rows(found: Explanation) -> Iterator[Sequence[str]]:
    of = found.hypotheses
    columns = (of.deviation, of.reach, of.cell_error, of.cliff, found.hypothesis_weights)
    for sd, reach, build, cliff, weight in zip(*columns, strict=True):
        where = f"at {cliff:.0%} of the first gap" if cliff else ""
        yield f"{sd:g}", f"{reach:g}", f"{build:g}", where, f"{weight:.4f}"


def _combined(found: Explanation, middle_s: float) -> list[str]:
    """Beyond the measured counts: how the mean is combined with simple laws."""
    if not found.simple_s:
        return []
    each = ", ".join(f"{name} {time_s:.5g} s" for name, time_s in found.simple_s.items())
    return [
        f"beyond the measured counts, log T is combined with the mean of log T by simple laws: {each}",
        f"their weight is {found.share:.3f}: T = {middle_s:.5g} s",
    ]


def _interval(found: Explanation) -> list[str]:
    prediction = found.prediction
    centre, half = float(prediction.log_time[0]), prediction.half_width(0)
    stretch = float(prediction.stretch[0])
    total = sum(sd**2 for sd in found.sds.values()) ** 0.5
    low, middle, high = (float(np.exp(centre + sign * half)) for sign in (-1, 0, 1))
    lines = [f"sd of log time from {name}: {sd:.4f}" for name, sd in found.sds.items()]
    lines += [
        f"total sd {total:.4f}; deviations follow Student's t with {prediction.degrees:.3g} degrees of "
        "freedom",
        f"mean of log T over all laws and deviations: {np.log(found.mixture_s):.5f}; "
        f"T = {found.mixture_s:.5g} s",
        *_combined(found, middle),
        f"half width of the 90 % interval in log: {half / stretch:.4f} x {stretch:.3f} (calibration)",
        f"90 % prediction interval: T exp(± half width) = {low:.5g} to {high:.5g} s",
    ]
    rate = "" if found.unit == "s" else f"{1 / high:.5g} to {1 / low:.5g} {found.unit}"
    if not found.curve.is_near(found.hosts):
        return [
            *lines,
            f"no number: a count that was not measured needs {PLACES} measured ones, and on each side one "
            f"within a factor of {NEAR:g}; measure counts nearer to {found.hosts} hosts",
        ]
    if not found.is_supported:
        return [
            *lines,
            *([f"as a rate: {rate}"] if rate else []),
            f"no number: these points leave {low / middle - 1:+.0%} to {high / middle - 1:+.0%} open, more "
            f"than {SUPPORTED:.0%}; add repetitions, or measure counts nearer to {found.hosts} hosts",
        ]
    return [*lines, *([f"as a rate: {1 / middle:.5g}, {rate}"] if rate else [])]
