"""The curves of a plan: load and turnaround by hosts, and the latency of queries by utilization."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.ranged import quantiles
from density_study.analysis.capacity.plan.plan import Curve, CurvePoint
from density_study.analysis.capacity.sizing.candidate import Candidate
from density_study.analysis.capacity.sizing.demand import HOUR_S
from density_study.analysis.capacity.sizing.sized import Sized
from density_study.analysis.capacity.sizing.turnaround import turnaround

AROUND, STEPS = (0.4, 1.4), 9  # counts of hosts that are drawn, over the chosen one
PLACES = 25  # drawn of a curve over utilization
HOSTS = "hosts, of which one has failed"


def plan_curves(best: Sized) -> Iterator[Curve]:
    yield _load(best)
    if best.candidate.demand.question.turnaround is not None:
        yield _turnaround(best)
    if best.candidate.query is not None:
        yield _query(best.candidate, best.hosts)


def counts(hosts: int) -> list[int]:
    """Around the chosen count, that among them."""
    low, high = (share * hosts for share in AROUND)
    drawn = np.linspace(max(2.0, low), max(high, hosts + 2.0), STEPS).round().astype(int)
    return sorted({hosts, *drawn.tolist()})


def carried(one: Candidate, hosts: int) -> Floats:
    """Genomes per day that the resources carry with one host failed (draws,)."""
    pressed = [rho / np.maximum(limit, 1e-9) for rho, limit in one.rhos(hosts - 1).values()]
    result: Floats = one.demand.question.genomes_per_day / np.max(pressed, axis=0)
    return result


def _load(best: Sized) -> Curve:
    one, asked = best.candidate, best.candidate.demand.question.genomes_per_day
    return Curve(
        title="Load by hosts",
        x=HOSTS,
        y="genomes/day within every limit of a resource",
        points=tuple(
            CurvePoint(x=hosts, value=quantiles(carried(one, hosts)))
            for hosts in counts(best.hosts)
        ),
        limit=asked,
        limit_words=f"{asked:g} genomes/day",
        chosen=best.hosts,
        margin=quantiles(carried(one, best.hosts) / asked - 1),
    )


def _turnaround(best: Sized) -> Curve:
    one, promise = best.candidate, best.candidate.demand.question.turnaround
    assert promise is not None and best.one_lost is not None  # stages are checked with the SLO
    # Fewer hosts than chosen may be overloaded: their turnaround is without bound, and is not drawn.
    found = {hosts: turnaround(one, hosts - 1).percentile_s for hosts in counts(best.hosts)[::2]}
    found[best.hosts] = best.one_lost.percentile_s
    return Curve(
        title=f"Turnaround p{promise.percentile:g} by hosts",
        x=HOSTS,
        y="hours",
        points=tuple(
            CurvePoint(x=hosts, value=quantiles(seconds / HOUR_S))
            for hosts, seconds in sorted(found.items())
            if float(np.isfinite(seconds).mean()) > 0.95
        ),
        limit=promise.limit_s / HOUR_S,
        limit_words=str(promise),
        chosen=best.hosts,
        margin=quantiles(1 - np.minimum(best.one_lost.percentile_s / promise.limit_s, 1e6)),
    )


def _query(one: Candidate, hosts: int) -> Curve:
    promise, curve = one.demand.question.query, one.query
    assert promise is not None and curve is not None
    rho = one.rhos(hosts - 1)["hbase_scan"][0]
    return Curve(
        title=f"Query p{promise.percentile:g} by utilization",
        x="utilization: load over the rate at saturation",
        y="s",
        points=tuple(
            CurvePoint(x=float(at), value=quantiles(curve.seconds(np.full_like(rho, at))))
            for at in np.linspace(0.0, curve.fit.largest_rho, PLACES)
        ),
        limit=promise.limit_s,
        limit_words=str(promise),
        chosen=float(np.median(rho)),
        margin=quantiles(1 - np.minimum(curve.seconds(rho) / promise.limit_s, 1e6)),
    )
