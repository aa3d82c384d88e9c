"""Sums and percentiles of decoded histograms, by plain counting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from density_study.workloads.ycsb.output.histogram import Histogram


def merge(histograms: Iterable[Histogram]) -> Histogram:
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(dict(histogram.counts))
    return Histogram(tuple(sorted(total.items())))


def percentile_us(histogram: Histogram, percentile: float) -> int:
    """The smallest value that `percent` of all operations do not exceed, by plain counting."""
    wanted, reached = math.ceil(percentile * histogram.total / 100), 0
    for value_us, count in histogram.counts:
        reached += count
        if reached >= wanted:
            return value_us
    raise ValueError("no operations")
