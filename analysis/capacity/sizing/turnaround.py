"""Turnaround of a candidate in every draw: its critical path times the stretch by waiting.

    turnaround = path * stretch(rho)

The path is known in every draw. The stretch, which waiting for other genomes causes, is simulated in some
draws, spread evenly over the utilization rho, and rises with rho (isotonic regression; R. Barlow et al.
1972), so that the noise of single simulations averages out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.sizing.candidate import Candidate
from density_study.analysis.capacity.sizing.stage_graph import Service, turnarounds_s

GENOMES = 200  # per simulation: 160 after the warm-up, of which a p95 leaves out 8
SIMULATIONS = 64


@dataclass(frozen=True)
class Turnaround:
    """Seconds (draws,): the SLO's percentile, else p95, and the mean. Infinite at rho >= 1."""

    percentile_s: Floats
    mean_s: Floats


def turnaround(one: Candidate, hosts: int) -> Turnaround:
    """Turnaround of a genome in a cluster in which `hosts` hosts are up."""
    busy = _utilization(one, hosts)
    path = one.path_s(hosts)
    infinite = np.full_like(path, np.inf)
    # Where work arrives faster than it is done, the queue grows without bound, and a simulated turnaround
    # would only show how long the simulation was.
    stable = np.flatnonzero(busy < 1)
    if not len(stable):
        return Turnaround(infinite, infinite)
    in_order = stable[np.argsort(busy[stable], kind="stable")]
    places = (np.arange(SIMULATIONS) + 0.5) / SIMULATIONS * len(in_order)
    drawn = in_order[np.unique(places.astype(int))]
    stretches = _simulated(one, hosts, drawn) / path[drawn]
    found = []
    for row in stretches:
        rising = isotonic_regression(row).x
        stretch = np.maximum(1.0, np.interp(busy, busy[drawn], rising))
        found.append(np.where(busy < 1, path * stretch, infinite))
    return Turnaround(*found)


def _utilization(one: Candidate, hosts: int) -> Floats:
    """Utilization of the busiest resource, pool or lane (draws,)."""
    rhos = [rho for name, (rho, _) in one.rhos(hosts).items() if not name.startswith("storage")]
    # a stage without core-hours serves one genome at a time
    lanes = [stage for stage in one.demand.profile.stages if not stage.computes]
    rhos += [one.demand.genomes_per_s * one.stage_s(stage, hosts) for stage in lanes]
    result: Floats = np.max(rhos, axis=0)
    return result


def _simulated(one: Candidate, hosts: int, drawn: np.ndarray) -> Floats:
    """(2, simulations): the percentile and the mean of turnaround in some draws."""
    promise = one.demand.question.turnaround
    percentile = promise.percentile if promise else 95.0
    stages = one.demand.profile.stages
    seconds = [one.stage_s(stage, hosts) for stage in stages]
    shares = [one.stage_share(stage, hosts) for stage in stages]
    # common random numbers: every candidate and count gets the same arrivals, up to their rate
    rng = np.random.default_rng([one.demand.question.seed, 5])
    gaps = rng.standard_exponential((len(drawn), GENOMES))
    found = []
    for draw, row in zip(drawn, gaps, strict=True):
        services = [
            Service(
                stage.name, stage.after, float(time_s[draw]), float(share[draw]),
                lane=not stage.computes,
            )
            for stage, time_s, share in zip(stages, seconds, shares, strict=True)
        ]  # fmt: skip
        arrivals = np.cumsum(row) / float(one.demand.genomes_per_s[draw])
        times = turnarounds_s(services, arrivals)
        found.append((float(np.percentile(times, percentile)), float(times.mean())))
    return np.array(found).T
