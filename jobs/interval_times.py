"""How long all operations of an interval took together, from its histogram."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

TRUNCATED_US = 0.5
"""YCSB cuts each time to whole microseconds: half of one is missing on average."""


def with_times(intervals: pa.Table) -> pa.Table:
    """`ycsb_histograms` with `time_us` filled in. A bucket's value is its upper end."""
    value_us, counts = (intervals[name].combine_chunks() for name in ("value_us", "counts"))
    lengths = value_us.value_lengths().to_numpy()
    times_us = (value_us.flatten().to_numpy() + TRUNCATED_US) * counts.flatten().to_numpy()
    filled = np.flatnonzero(lengths)
    found = np.zeros(len(intervals))
    if len(filled):
        begins = (np.cumsum(lengths) - lengths)[filled]
        found[filled] = np.add.reduceat(times_us, begins)
    place = intervals.schema.get_field_index("time_us")
    return intervals.set_column(place, intervals.schema.field(place), pa.array(found))
