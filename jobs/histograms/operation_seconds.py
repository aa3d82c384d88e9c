"""Operations per second of a trial, over all its clients, from their interval logs.

A log has one interval per second and operation. They are cut at whole seconds and added up as arrays where
they are read. A Spark query would first have to join every interval with its trial and its client.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis import tables
from analysis.tables.arrow import arrow_schema
from jobs.arrays.arrow_tables import Array, table_of
from jobs.arrays.exact_sums import exact_sums
from jobs.arrays.spans import by_second, groups
from jobs.raw.trial_context import TrialFacts


@dataclass
class TrialOperations:
    """Pieces of the intervals in the logs of one trial, by second."""

    _seconds: list[Array] = field(default_factory=list)
    _done: list[Array] = field(default_factory=list)

    def add(self, intervals: pa.Table, facts: TrialFacts) -> None:
        """intervals: rows of `ycsb_histograms`. Counts successful user operations, ramp-up included, and
        spreads each interval evenly over its length."""
        if facts.window is None:
            return
        closed_loop = pc.equal(intervals["kind"], "closed-loop")
        intervals = intervals.filter(pc.and_(closed_loop, intervals["counted"].is_valid()))
        since_s = intervals["begun_s"].to_numpy()
        until_s = since_s + intervals["length_s"].to_numpy()
        span, second, inside_s = by_second(since_s, until_s, facts.window)
        self._seconds.append(second)
        self._done.append(
            intervals["counted"].to_numpy()[span] * (inside_s / (until_s - since_s)[span])
        )

    def seconds(self, trial: str) -> pa.Table:
        """Rows of `operation_seconds`."""
        schema = arrow_schema(tables.OPERATION_SECONDS)
        second = np.concatenate(self._seconds) if self._seconds else np.zeros(0, np.int64)
        if not len(second):
            return schema.empty_table()
        order, begins = groups(second)
        done = exact_sums(np.concatenate(self._done)[order], begins)
        named = {"trial": trial, "second": second[order][begins], "operations": done}
        return table_of(named, schema, len(begins))
