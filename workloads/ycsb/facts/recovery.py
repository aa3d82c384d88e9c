"""What a fault under load did: how long until the rate was back, what failed, and what is missing.

A rate is back at the first second from which, for SUSTAINED_S seconds, clients achieve 98 % of the target on
average and nine tenths of it in each. The backlog of a stall makes the rate higher than the target for a
while, so that a bare mean could begin within the stall. What a fault does may come late: the search begins
at the first second after the fault in which the rate is below nine tenths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from density_study.workloads.base.evidence import SUSTAINED
from density_study.workloads.base.rows import Row, Rows, if_all, metric, only, window_s
from density_study.workloads.ycsb.facts.intervals import ends_s
from density_study.workloads.ycsb.facts.summary import WholeRun
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

EACH, SUSTAINED_S = 0.9, 5


def recovery_metrics(rows: Rows, runs: Mapping[str, WholeRun]) -> Iterator[Row]:
    """time_to_recover is None if the rate was not back by the end of the trial; failed_operations and
    lost_rows are None if they are unknown."""
    trial = rows.trial
    failed = if_all(run.failed for run in runs.values())
    yield metric("time_to_recover", "s", _recovered_s(rows))
    yield metric("failed_operations", "count", None if failed is None else sum(failed))
    yield metric("worst_latency", "ms", _worst_ms(rows))
    yield metric("lost_rows", "count", lost_rows(trial))


def lost_rows(trial: Row) -> int | None:
    if trial["rows_acknowledged"] is None or trial["rows_found"] is None:
        return None
    return int(trial["rows_acknowledged"] - trial["rows_found"])


def _recovered_s(rows: Rows) -> float | None:
    """Seconds from the fault to the first second of a sustained rate."""
    fault_s, target = rows.trial["fault_s"], rows.trial["target_ops_s"]
    length_s = window_s(rows.trial)
    if target is None or length_s is None:
        return None
    done = {row["second"]: row["operations"] for row in rows.of("operation_seconds")}
    first, end = math.floor(fault_s), math.ceil(length_s)
    shares = [done.get(second, 0.0) / target for second in range(first, end)]
    fell = False
    recovered = None
    # The last seconds, from which no sustained rate could follow, do not count: the last one is not whole.
    for place in range(len(shares) - SUSTAINED_S + 1):
        coming = shares[place : place + SUSTAINED_S]
        after_s = max(0.0, first + place - fault_s)
        if shares[place] < EACH and not fell:
            fell, recovered = True, None  # what was sustained before did not last
        elif recovered is None and sum(coming) / SUSTAINED_S >= SUSTAINED and min(coming) >= EACH:
            recovered = after_s
    return recovered


def _worst_ms(rows: Rows) -> float | None:
    """The longest intended latency after the fault, of operations that succeeded."""
    logs = rows.arrays(
        "ycsb_histograms", "operation", "outcome", "kind", "begun_s", "length_s", "value_us"
    )
    at_s = rows.trial["window_start_epoch_s"] + rows.trial["fault_s"]
    succeeded = np.array([outcome is None for outcome in logs["outcome"]], bool)
    wanted = (logs["kind"] == "intended") & succeeded & ~np.isin(logs["operation"], NOT_OF_USERS)
    after = only(logs, wanted & (ends_s(logs) > at_s))
    longest_us = [float(values.max()) for values in after["value_us"] if len(values)]
    return max(longest_us) / 1000.0 if longest_us else None
