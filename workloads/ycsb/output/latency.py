"""Percentiles of one trial's latency, merged over its clients' interval logs: what
`jobs.histograms.trial_logs` computes for the analysis, for a search that needs them at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from density_study.workloads.base.evidence import MIN_SLOWER
from density_study.workloads.ycsb.output.interval_log import rows_of


def percentile_ms(
    folder: Path, from_epoch_s: Mapping[str, float], operation: str, percentile: float
) -> float | None:
    """Nearest-rank percentile of the intended latency of successful operations, of all clients together, in
    intervals that start at `from_epoch_s` (by client, in its clock) or later. None with fewer than
    10 / (1 - p) operations. StudyError if a log in `folder` cannot be read."""
    counts: Counter[int] = Counter()
    for client, from_s in from_epoch_s.items():
        for row in rows_of(folder, client, f"Intended-{operation}"):
            if row.start_epoch_s >= from_s:
                counts.update(dict(row.histogram().counts))
    total = counts.total()
    share = Fraction(str(percentile)) / 100  # 0.999 as a float can move the rank by one
    if total * (1 - share) < MIN_SLOWER:
        return None
    rank, reached = max(1, math.ceil(total * share)), 0
    for value_us in sorted(counts):
        reached += counts[value_us]
        if reached >= rank:
            return value_us / 1000.0
    return None
