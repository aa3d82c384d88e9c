"""How busy the query resource may be, so that a query's percentile stays within its promise.

Latency curves carry over by rho. A query of several scans takes as long as its scans one after
another: percentiles added up, which errs on the safe side. Nothing is said beyond the largest rho
that was measured: a promise that would allow more is held at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capacity.curves.latency import LatencyCurve
from analysis.capacity.curves.model import LatencyFit, Model
from analysis.capacity.inputs.array import Floats
from analysis.capacity.sizing.supply import NotMeasured

GRID = np.linspace(0.0, 1.0, 201)
PERCENTILES_APART = 1.0


@dataclass(frozen=True)
class QueryCurve:
    """Seconds of a query at rho, by draw: `stretch` (draws,) holds scans, CPU speed and the misfit."""

    curve: LatencyCurve
    fit: LatencyFit
    stretch: Floats

    def seconds(self, rho: Floats) -> Floats:
        """(draws,) at rho (draws,); infinite beyond the largest measured rho."""
        found = self.curve.at(rho) * self.stretch
        return np.where(np.isnan(found), np.inf, found)

    def allowed_rho(self, limit_s: float) -> Floats:
        """The largest measured rho that keeps the promise (draws,); 0 where not even an idle one does."""
        levels = self.curve.at(GRID)
        holds = levels[None, :] * self.stretch[:, None] <= limit_s  # nan compares false
        return np.where(holds.any(axis=1), np.where(holds, GRID[None, :], 0.0).max(axis=1), 0.0)


def query_fit(
    model: Model, group: str, medium: str, vms_per_host: int, percentile: float
) -> LatencyFit | NotMeasured:
    """The latency curve of a group that answers a promise at a density."""
    of_group = [one for one in model.latency if one.group == group]
    close = [one for one in of_group if abs(one.percentile - percentile) < PERCENTILES_APART]
    here = [one for one in close if one.medium == medium and one.vms_per_host == vms_per_host]
    if not of_group:
        return NotMeasured(
            f"no latency against load was measured for {group}: measure p{percentile:g} at 3 loads or "
            "more (a sweep of targets up to 90 % of saturation)"
        )
    if not close:
        known = ", ".join(f"p{p:g}" for p in sorted({one.percentile for one in of_group}))
        return NotMeasured(f"{group} has latencies for {known}, not p{percentile:g}: measure that")
    if not here:
        known = ", ".join(
            str(v) for v in sorted({o.vms_per_host for o in close if o.medium == medium})
        )
        return NotMeasured(
            f"latency of {group} on {medium} was measured at {known or 'no'} VMs per host, not at "
            f"{vms_per_host}: measure it there"
        )
    preferred = [one for one in here if one.operation in ("SCAN", "")] or here
    return max(preferred, key=lambda one: (one.loads, one.largest_rho))


def query_curve(
    fit: LatencyFit, scans: Floats, speed: Floats, rng: np.random.Generator
) -> QueryCurve:
    degrees = max(1, fit.loads - 2)
    misfit = np.exp(np.clip(rng.standard_t(degrees, len(scans)) * fit.spread, -1.5, 1.5))
    return QueryCurve(fit.curve(), fit, scans * misfit / speed)
