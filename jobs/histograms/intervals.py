"""What each interval of a client's log counts for: the one place of the warm-up's cut, of the clock's
offset and of the correction for read-modify-writes. Percentiles, rates, drift and Little's law read it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.arrays.array import Array
from jobs.raw.trial_context import TrialFacts
from workloads.ycsb.output.operations import NOT_OF_USERS, READ_MODIFY_WRITE

TRUNCATED_US = 0.5
"""YCSB cuts each time to whole microseconds: half of one is missing on average."""


def with_facts(intervals: pa.Table, facts: TrialFacts) -> pa.Table:
    """`ycsb_histograms` of a file with `time_us`, `begun_s`, `counted` and `measured` filled in."""
    begun_s = intervals["start_epoch_s"].to_numpy() - facts.clock_offset_s
    of_users = pc.invert(pc.is_in(intervals["operation"], pa.array(NOT_OF_USERS)))
    succeeded = pc.and_(of_users, pc.is_null(intervals["outcome"]))
    # a read-modify-write is logged thrice, as itself, as its read and as its update: counted once
    again = pc.equal(intervals["operation"], READ_MODIFY_WRITE)
    counted = pc.if_else(again, pc.negate(intervals["operations"]), intervals["operations"])
    columns = {
        "time_us": _times_us(intervals),
        "begun_s": begun_s,
        "counted": pc.if_else(succeeded, counted, None),
        "measured": pc.and_(succeeded, pa.array(_after_warm_up(begun_s, facts))),
    }
    for name, values in columns.items():
        place = intervals.schema.get_field_index(name)
        field = intervals.schema.field(place)
        filled = pa.array(values) if isinstance(values, np.ndarray) else values
        intervals = intervals.set_column(place, field, filled)
    return intervals


def _after_warm_up(begun_s: Array, facts: TrialFacts) -> Array:
    """The cut is by time, warm_up_s from the window's start (method 7). An interval that straddles it is
    left out: its histogram cannot be divided."""
    if facts.window is None:
        return np.zeros(len(begun_s), bool)
    after: Array = (begun_s >= facts.window[0] + facts.warm_up_s) | (facts.warm_up_s == 0)
    return after


def _times_us(intervals: pa.Table) -> Array:
    """How long all operations of each interval took together. A bucket's value is its upper end."""
    value_us, counts = (intervals[name].combine_chunks() for name in ("value_us", "counts"))
    lengths = value_us.value_lengths().to_numpy()
    times_us = (value_us.flatten().to_numpy() + TRUNCATED_US) * counts.flatten().to_numpy()
    filled = np.flatnonzero(lengths)
    found = np.zeros(len(intervals))
    if len(filled):
        begins = (np.cumsum(lengths) - lengths)[filled]
        found[filled] = np.add.reduceat(times_us, begins)
    return found
