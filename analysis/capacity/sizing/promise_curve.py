"""The highest utilization of the query resource at which a query meets its SLO.

Latency depends on the cluster only through its utilization rho (see curves/under_load.py). Nothing is known
beyond the largest measured rho, which is therefore the upper limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.model import LatencyFit, Model
from density_study.analysis.capacity.curves.surface import NotMeasuredError

GRID = np.linspace(0.0, 1.0, 201)  # of rho, in steps of half a percent
PERCENTILES_APART = 1.0


@dataclass(frozen=True)
class QueryCurve:
    """Seconds of a query at rho. `stretch` (draws,): factor for scans, CPU speed and misfit."""

    fit: LatencyFit
    stretch: Floats

    def seconds(self, rho: Floats) -> Floats:
        """(draws,) at rho (draws,); infinite beyond the largest measured rho."""
        # A query takes the sum of its scans. Adding percentiles overestimates the percentile of a sum of
        # independent scans, so the plan is on the safe side.
        found = self.fit.at(rho) * self.stretch
        return np.where(np.isnan(found), np.inf, found)

    def allowed_rho(self, limit_s: float) -> Floats:
        """The largest measured rho that meets the SLO (draws,); 0 if even an idle cluster does not."""
        levels = np.nan_to_num(self.fit.at(GRID), nan=np.inf)
        # The least latency from each rho on, which ascends.
        at_or_above = np.minimum.accumulate(levels[::-1])[::-1]
        count = np.searchsorted(at_or_above, limit_s / self.stretch, side="right")
        return np.concatenate([[0.0], GRID])[count]


def misfit(fit: LatencyFit, seed: int, draws: int) -> Floats:
    """Random factors (draws,) by which a latency may differ from its fitted curve."""
    # Common random numbers: every density and disk type gets the same draws, so that they are compared
    # without noise. Student's t, because the spread has only loads - 2 degrees of freedom.
    rng = np.random.default_rng([seed, 4])
    off = rng.standard_t(max(1, fit.loads - 2), draws) * fit.spread
    result: Floats = np.exp(np.clip(off, -1.5, 1.5))
    return result


def query_fit(
    model: Model,
    group: str,
    disk_type: str,
    vms_per_host: int,
    percentile: float,
    operations: tuple[str, ...] = ("SCAN",),
) -> LatencyFit:
    """The latency curve of a group at a density, for the SLO's percentile; of one of the operations, if there
    is one. NotMeasuredError without any."""
    of_group = [one for one in model.latency if one.group == group]
    close = [one for one in of_group if abs(one.percentile - percentile) < PERCENTILES_APART]
    here = [one for one in close if one.disk_type == disk_type and one.vms_per_host == vms_per_host]
    if not of_group:
        raise NotMeasuredError(
            f"no latency by load was measured for {group}: measure p{percentile:g} at 3 or more loads "
            "(a sweep of targets up to 90 % of saturation)"
        )
    if not close:
        known = ", ".join(f"p{p:g}" for p in sorted({one.percentile for one in of_group}))
        raise NotMeasuredError(
            f"{group} has latencies for {known}, not p{percentile:g}: measure that percentile"
        )
    if not here:
        densities = sorted({one.vms_per_host for one in close if one.disk_type == disk_type})
        known = ", ".join(str(v) for v in densities)
        raise NotMeasuredError(
            f"latency of {group} on {disk_type} was measured at {known or 'no'} VMs per host, not at "
            f"{vms_per_host}: measure it there"
        )
    preferred = [one for one in here if one.operation in (*operations, "")] or here
    return max(preferred, key=lambda one: (one.loads, one.largest_rho))
