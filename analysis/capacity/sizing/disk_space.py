"""Disk space: retained data over the horizon, replicated, and scratch space of genomes in progress.

    retained = gib * (genomes per day * min(days retained, horizon) + cohort at start) * replication
    scratch  = gib * genomes in progress, not replicated; in progress by Little's law: rate * turnaround

Little, J. D. C. (1961). A proof for the queuing formula L = lambda W. Operations Research 9.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.capacity.inputs.array import Floats
from analysis.capacity.inputs.profile import Profile

DAY_S = 86400.0


def kept_gib(
    profile: Profile, drawn: Mapping[str, Floats], genomes_per_day: float, medium: str
) -> Floats:
    """GiB of disk for data in HBase (`random`) or in files (`sequential`) (draws,)."""
    storage = profile.storage
    some = next(iter(drawn.values()))
    total: Floats = np.zeros_like(some)
    for kept in storage.kept:
        if kept.medium == medium:
            days = np.minimum(drawn[f"storage.{kept.name}.days"], storage.horizon_days)
            genomes = genomes_per_day * days + storage.genomes_at_start
            total = total + drawn[f"storage.{kept.name}.gib"] * genomes * storage.replication
    return total


def scratch_gib(drawn: Mapping[str, Floats], genomes_per_day: float, turnaround_s: float) -> Floats:
    """GiB of scratch space for the genomes in progress, at least one (draws,)."""
    in_progress = max(1.0, genomes_per_day / DAY_S * turnaround_s)
    result: Floats = drawn["storage.scratch_gib"] * in_progress * drawn["peak"]
    return result
