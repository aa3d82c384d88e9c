"""`fit`: points to a `Model`. For what cannot be fitted, the model has an excuse: what to measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy import stats

from density_study.analysis.capacity.curves import beyond
from density_study.analysis.capacity.curves import density as density_law
from density_study.analysis.capacity.curves.calibration import Calibration
from density_study.analysis.capacity.curves.curve import Curve
from density_study.analysis.capacity.curves.model import (
    CellFit,
    DensityFit,
    ErrorOfPrediction,
    InteractionFit,
    LatencyFit,
    Model,
    ScalingFit,
    UtilizationFit,
)
from density_study.analysis.capacity.curves.surface import (
    FARTHEST,
    MIN_COUNTS,
    Surface,
    density_curves,
    surfaces,
    work_cells,
)
from density_study.analysis.capacity.curves.under_load import (
    LatencyCurve,
    fit_latency,
    fit_latency_of_cpu,
    fit_utilization,
    log_misses,
)
from density_study.analysis.capacity.inputs.point import Place, Point, check_units, grouped, sizes
from density_study.analysis.capacity.plan.plan import utc_now
from density_study.cluster.model.errors import InputError

Laws = tuple[tuple[UtilizationFit, ...], tuple[LatencyFit, ...], dict[Place, float]]
INTERACTION_LEVEL = 0.05  # largest p at which an interaction counts as present
Sweep = tuple[Place, str, float]  # a place, with the operation and percentile of its latencies


def fit(points: Sequence[Point], sources: Sequence[str]) -> Model:
    """InputError if the points are too few for any curve."""
    check_units(points, "the points")
    found = surfaces(points)
    scaling = tuple(one for surface in found.values() for one in _scaling(surface))
    density = tuple(_density(points, found))
    if not scaling and not density:
        raise InputError(_nothing(points), "the points", _REMEDY)
    rates = _largest_rates(points)
    return Model(
        created=utc_now(),
        sources=tuple(sources),
        points=tuple(points),
        scaling=scaling,
        density=density,
        interactions=tuple(_interactions(found)),
        utilization=tuple(_utilization(points)),
        latency=tuple(_latency(points, rates)),
        excuses=tuple(_excuses(found)),
        warnings=tuple(_cliffs(found)),
    )


_REMEDY = (
    "measure at 3 or more host counts (for example 2, 4 and 8), or at 3 or more densities with equal "
    "hosts, with 3 repetitions each."
)


def _nothing(points: Sequence[Point]) -> str:
    used = sizes(points)
    if not used:
        return "the points contain no time and no rate."
    hosts = sorted({point.hosts for point in used})
    densities = sorted({point.vms_per_host for point in used})
    if len(hosts) == 1:
        counted = "1 density" if len(densities) == 1 else f"{len(densities)} densities"
        return f"the points have only one host count ({hosts[0]}) and {counted}: too few for any curve."
    return f"too few points: no group has {MIN_COUNTS} host counts or 3 densities."


def _scaling(surface: Surface) -> Iterator[ScalingFit]:
    for v in surface.scalable:
        curve = surface.variants[v]
        a, b, c = (float(one) for one in curve.coefficients)
        yield ScalingFit(
            group=surface.group,
            disk_type=surface.disk_type,
            vms_per_host=v,
            unit=surface.unit,
            a_s=a,
            b_s=b,
            c_s=c,
            cells=_cells(curve, surface.scaling),
            smallest_hosts=int(curve.x[0]),
            largest_hosts=int(curve.x[-1]),
            error=_error(curve, surface.scaling),
            repeat_noise=surface.scaling.noise.of(curve) ** 0.5,
        )


def _error(curve: Curve, calibration: Calibration) -> ErrorOfPrediction:
    """inside: the largest between two measured counts. above: one last measured step up."""
    x = curve.x
    step = min(x[-1] / x[-2], FARTHEST)  # what is beyond FARTHEST is never forecast
    # middles are geometric, because curves are over log n: there an interpolation is least certain
    found = beyond.predict(calibration, curve, np.append(np.sqrt(x[1:] * x[:-1]), x[-1] * step))
    widths = [float(np.exp(found.half_width(place)) - 1) for place in range(len(x))]
    return ErrorOfPrediction(inside=max(widths[:-1]), above=widths[-1])


def _cells(curve: Curve, calibration: Calibration) -> tuple[CellFit, ...]:
    formula = curve.family.predict(curve.coefficients, curve.x)
    left_out = calibration.left_out(curve) if len(curve.cells) > 2 else None
    return tuple(
        CellFit(
            x=cell.x,
            level_s=float(curve.levels[i]),
            repetitions=len(cell.times),
            residual=float(formula[i] / curve.levels[i] - 1),
            left_out=None if left_out is None else float(np.exp(left_out[i]) - 1),
        )
        for i, cell in enumerate(curve.cells)
    )


def _density(points: Sequence[Point], found: dict[Any, Surface]) -> Iterator[DensityFit]:
    for (group, disk_type, hosts), curve in density_curves(work_cells(points)).items():
        if len(curve.cells) < 2:
            continue
        surface = found[group, disk_type]
        g, alpha, beta = density_law.law(curve.coefficients)
        yield DensityFit(
            group=group,
            disk_type=disk_type,
            hosts=hosts,
            unit=surface.unit,
            g_per_s=g,
            alpha=alpha,
            beta=beta,
            beta_fitted=len(curve.cells) >= density_law.DENSITIES_FOR_BETA,
            superlinear=alpha < 0,
            cells=_cells(curve, surface.density),
        )


def fit_laws(points: Sequence[Point]) -> Laws:
    """Utilization and latency fits under load, and the largest rate at each place."""
    rates = _largest_rates(points)
    return tuple(_utilization(points)), tuple(_latency(points, rates)), rates


def _interactions(found: dict[Any, Surface]) -> Iterator[InteractionFit]:
    # On some clusters the effect of density changes sign with size: then the density law of one host
    # count must not be applied to another.
    for surface in found.values():
        if len(surface.densities) > 1:
            p = _interaction_p(surface.variants)
            verdict: Literal["present", "not shown", "untested"] = "untested"
            if p is not None:
                verdict = "present" if p < INTERACTION_LEVEL else "not shown"
            yield InteractionFit(
                group=surface.group, disk_type=surface.disk_type, verdict=verdict, p=p
            )


def _interaction_p(variants: dict[int, Curve]) -> float | None:
    """F-test of log work times, additive model against full cells. None with fewer than 2 densities by
    2 host counts, or without repetitions, whose noise the interaction is tested against."""
    # only counts that all variants have: the test needs a full table
    counts = set.intersection(*({cell.x for cell in curve.cells} for curve in variants.values()))
    if len(variants) < 2 or len(counts) < 2:
        return None
    table = [
        [np.log(cell.times) for cell in curve.cells if cell.x in counts]
        for curve in variants.values()
    ]
    # var * n is the sum of squares around the cell's mean
    within = sum(float(np.var(cell)) * len(cell) for row in table for cell in row)
    degrees = sum(len(cell) - 1 for row in table for cell in row)
    if degrees < 1 or within <= 0:
        return None
    means = np.array([[np.mean(cell) for cell in row] for row in table])
    counted = np.array([[len(cell) for cell in row] for row in table])
    # In logs, "no interaction" means that density multiplies the time by one factor at every host count.
    left = means - means.mean(axis=1, keepdims=True) - means.mean(axis=0) + means.mean()
    free = (means.shape[0] - 1) * (means.shape[1] - 1)
    # Unequal repetitions: the harmonic mean stands for their number. Unweighted means analysis,
    # Biometrika 61 (1974) 117: the ratio is then nearly F-distributed.
    repeats = counted.size / float((1.0 / counted).sum())
    ratio = repeats * float((left**2).sum()) / free / (within / degrees)
    return float(stats.f.sf(ratio, free, degrees))


def _largest_rates(points: Sequence[Point]) -> dict[Place, float]:
    """The largest rate of a variant: the median over its builds, or a sustained load whose build has no
    measured saturation."""
    rates = grouped((p for p in points if p.quantity == "rate"), lambda p: p.place)
    # median: one slow build must not raise the rho of all the others
    measured = {place: float(np.median([p.value for p in those])) for place, those in rates.items()}
    for point in points:
        if point.load is not None and point.share is None:
            measured[point.place] = max(measured.get(point.place, 0.0), point.load)
    return measured


def _utilization(points: Sequence[Point]) -> Iterator[UtilizationFit]:
    used = (point for point in points if point.quantity == "utilization")
    for place, those in grouped(used, lambda point: point.place).items():
        law = fit_utilization([point.load or 0.0 for point in those], [p.value for p in those])
        if law is not None:
            group, disk_type, hosts, v = place
            yield UtilizationFit(
                group=group, disk_type=disk_type, hosts=hosts, vms_per_host=v, **law.__dict__
            )


def _latency(points: Sequence[Point], rates: dict[Place, float]) -> Iterator[LatencyFit]:
    loaded = (p for p in points if p.quantity == "latency" and p.load is not None)
    for those in grouped(loaded, lambda p: (p.group, p.disk_type)).values():
        sweeps = grouped(those, lambda p: (p.place, p.operation, p.percentile or 0.0))
        for (place, operation, percentile), curve in _curves(sweeps, rates).items():
            group, disk_type, hosts, v = place
            yield LatencyFit(
                group=group, disk_type=disk_type, hosts=hosts, vms_per_host=v, operation=operation,
                percentile=percentile, largest_rate=rates[place], **curve.__dict__,
            )  # fmt: skip


def _curves(
    sweeps: dict[Sweep, list[Point]], rates: dict[Place, float]
) -> dict[Sweep, LatencyCurve]:
    """For one workload on one disk_type: all by the CPU if times follow it more closely, else by the load."""
    # All together: the bottleneck does not change from cell to cell, and one cell has too few points to
    # decide. Why the CPU: docs/decisions/0037-latency-follows-utilization.md.
    by_load: dict[Sweep, LatencyCurve] = {}
    by_cpu: dict[Sweep, LatencyCurve] = {}
    missed = {"load": 0.0, "cpu": 0.0}
    for sweep, points in sweeps.items():
        largest = rates[sweep[0]]
        rhos = [(p.load or 0.0) / largest if p.share is None else p.share for p in points]
        times_s, busy = [p.value for p in points], [p.busy for p in points if p.busy is not None]
        if (curve := fit_latency(rhos, times_s)) is None:
            continue
        by_load[sweep] = curve
        if len(busy) < len(points) or (other := fit_latency_of_cpu(rhos, times_s, busy)) is None:
            continue
        by_cpu[sweep] = other
        missed["load"] += float((log_misses(curve, rhos, times_s) ** 2).mean())
        missed["cpu"] += float((log_misses(other, rhos, times_s, busy) ** 2).mean())
    # compared over the same sweeps only: one without CPU samples keeps all by the load
    closer = len(by_cpu) == len(by_load) and missed["cpu"] < missed["load"]
    return by_cpu if closer else by_load


def _cliffs(found: dict[Any, Surface]) -> Iterator[str]:
    for surface in found.values():
        for v, curve in surface.variants.items():
            for cliff in curve.cliffs(surface.scaling.noise.of(curve)):
                yield f"{surface.group} on {surface.disk_type}, {v} VMs per host: {cliff}"


def _excuses(found: dict[Any, Surface]) -> Iterator[str]:
    for surface in found.values():
        where = f"{surface.group} on {surface.disk_type}"
        if not surface.scalable:
            counts = ", ".join(str(count) for count in surface.host_counts)
            only = "only one host count" if len(surface.host_counts) == 1 else "too few host counts"
            yield f"{where}: {only} ({counts}), so there is no scaling with hosts; measure at 3 or more"
        positive = [v for v in surface.densities if v >= 1]
        if len(positive) == 1:
            yield f"{where}: only one density ({positive[0]}), so there is no density law; measure 1, 2 and 4"
        elif len(positive) < density_law.DENSITIES_FOR_BETA:
            yield f"{where}: {len(positive)} densities, so beta = 0; measure 4 to fit beta"
