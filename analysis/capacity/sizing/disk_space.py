"""Disk: what is kept of each genome over the horizon, replicated, and the scratch of those in work.

Retention: gib * (genomes a day * min(days kept, horizon) + cohort at the start) * replication. Scratch:
gib * genomes in work at once (Little: rate * turnaround), not replicated.
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
    """GiB on disks of what lies with HBase (`random`) or in files (`sequential`), by draw."""
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
    """GiB of scratch of the genomes in work at once; at least one."""
    in_work = max(1.0, genomes_per_day / DAY_S * turnaround_s)
    result: Floats = drawn["storage.scratch_gib"] * in_work * drawn["peak"]
    return result
