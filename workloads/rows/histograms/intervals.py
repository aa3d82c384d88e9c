"""Weights of the intervals in a client's log: ramp-up cut, clock offset, correction for read-modify-writes.

This is the only place for these rules. Percentiles, rates, drift and Little's law use its columns.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from density_study.workloads.rows.arrays.arrow_tables import Array, filled
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE

# YCSB truncates each time to whole microseconds, so half a microsecond is missing on average.
TRUNCATED_US = 0.5


def with_facts(intervals: pa.Table, facts: TrialFacts) -> pa.Table:
    """Fill in `time_us`, `begun_s`, `length_s`, `counted` and `measured` in a file's rows of
    `ycsb_histograms`."""
    start_s, length_s = (intervals[name].to_numpy() for name in ("start_epoch_s", "length_s"))
    begun_s = facts.at_s(start_s)
    if facts.turns and facts.window is not None:
        # after its turns the client only waits for its end
        begun_s = np.minimum(begun_s, facts.window[1])
        length_s = np.minimum(facts.at_s(start_s + length_s), facts.window[1]) - begun_s
    of_users = pc.invert(pc.is_in(intervals["operation"], pa.array(NOT_OF_USERS)))
    succeeded = pc.and_(of_users, pc.is_null(intervals["outcome"]))
    # YCSB logs a read-modify-write three times (itself, its read, its update); it must count once.
    again = pc.equal(intervals["operation"], READ_MODIFY_WRITE)
    counted = pc.if_else(again, pc.negate(intervals["operations"]), intervals["operations"])
    return filled(
        intervals,
        time_us=_times_us(intervals),
        begun_s=begun_s,
        length_s=length_s,
        counted=pc.if_else(succeeded, counted, None),
        measured=pc.and_(succeeded, pa.array(_after_warm_up(begun_s, facts))),
    )


def _after_warm_up(begun_s: Array, facts: TrialFacts) -> Array:
    """Cut the ramp-up by time, warm_up_s from the start of the window (method 7). Drop an interval that
    straddles the cut, because its histogram cannot be divided."""
    if facts.window is None:
        return np.zeros(len(begun_s), bool)
    after: Array = (begun_s >= facts.window[0] + facts.warm_up_s) | (facts.warm_up_s == 0)
    return after


def _times_us(intervals: pa.Table) -> Array:
    """Total time of all operations of each interval. A bucket's value is its upper end."""
    value_us, counts = (intervals[name].combine_chunks() for name in ("value_us", "counts"))
    lengths = value_us.value_lengths().to_numpy()
    # a count times its bucket's value: Little's law needs total time, which no percentile has
    times_us = (value_us.flatten().to_numpy() + TRUNCATED_US) * counts.flatten().to_numpy()
    filled = np.flatnonzero(lengths)  # reduceat would give an empty interval the next one's value
    found = np.zeros(len(intervals))
    if len(filled):
        begins = (np.cumsum(lengths) - lengths)[filled]
        found[filled] = np.add.reduceat(times_us, begins)
    return found
