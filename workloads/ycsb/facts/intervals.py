"""What the interval logs of a trial's clients show: rates after the ramp-up, drift, and how clients shared
the load.

`workloads.rows.histograms.intervals` says which intervals and operations count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from density_study.workloads.base.rows import (
    Array,
    Columns,
    Row,
    Rows,
    if_all,
    only,
    over,
    relative_error,
)
from density_study.workloads.ycsb.facts.summary import WholeRun

COLUMNS = ("client", "operation", "outcome", "kind", "begun_s", "length_s", "operations", "time_us",
           "counted", "measured")  # fmt: skip
PARTS = 3  # equal parts of the time after the ramp-up, for `drift`: a rule fixed before the data
LEAST_DRIFT_S = 6.0  # two intervals of a second in each


def closed_loop(rows: Rows) -> Columns:
    """Intervals of closed-loop latency, of every operation and outcome."""
    intervals = rows.arrays("ycsb_histograms", *COLUMNS)
    return only(intervals, intervals["kind"] == "closed-loop")


def ends_s(intervals: Columns) -> Array:
    ends: Array = intervals["begun_s"] + intervals["length_s"]
    return ends


def rate(intervals: Columns) -> float | None:
    """Successful operations per second, from the start of the first interval to the end of the last: an idle
    second between two intervals also counts. None without an interval."""
    if not len(intervals["begun_s"]):
        return None
    seconds = float(ends_s(intervals).max() - intervals["begun_s"].min())
    return over(float(np.nansum(intervals["counted"])), seconds)


def rates_after_ramp_up(intervals: Columns, clients: Sequence[str]) -> Mapping[str, float | None]:
    """Rate of each client in the whole intervals after the ramp-up (method 7)."""
    measured = only(intervals, intervals["measured"])
    return {one: rate(only(measured, measured["client"] == one)) for one in clients}


def drift(intervals: Columns) -> float | None:
    """Rate of the last third of the time after the ramp-up over rate of the first (method 7), for all clients
    together; None if the first has no operations, or if they are so short that the edges of a second
    decide: a load of two seconds may end before the last third begins."""
    # Thirds, not a fitted slope: one slow second at an end moves a slope more than a third's mean.
    measured = only(intervals, intervals["measured"])
    if not len(measured["begun_s"]):
        return None
    begun_s = measured["begun_s"]
    span_s = ends_s(measured).max() - begun_s.min()
    if span_s < LEAST_DRIFT_S:
        return None
    # divided by time, not by number of intervals: each client writes its own
    part = np.floor(PARTS * (begun_s - begun_s.min()) / span_s)
    first, last = (rate(only(measured, part == which)) for which in (0, PARTS - 1))
    return over(last, first)


def histogram_error(
    intervals: Columns, runs: Mapping[str, WholeRun], clients: Sequence[str]
) -> float | None:
    """Successful operations in the histograms against those by the summary, of the client where they differ
    most; None if one is unknown."""
    counted = only(intervals, ~np.isnan(intervals["counted"]))
    errors = []
    for client in clients:
        own = counted["counted"][counted["client"] == client]
        found = float(own.sum()) if len(own) else None
        errors.append(relative_error(found, runs[client].succeeded))
    whole = if_all(errors)
    return None if whole is None else max(whole)


def together_checks(rows: Rows, intervals: Columns) -> Row:
    """Whether clients that started at one moment shared the load. A sum over clients describes the cluster
    only while all of them work, and only if none of them was the limit (method 25).

    - started_together: whether there was a common start.
    - client_late_s: largest distance between it and a client's first operation.
    - clients_overlap: time in which all clients worked, as a share of the time in which any did.
    - client_lag: the slowest client's rate over the fastest's, each as a share of its
      target rate, else of its threads. After the ramp-up.
    """
    clients = [one for one in rows.of("clients") if one["begin_epoch_s"] is not None]
    if not clients:
        return {"started_together": False}
    unknown: Row = dict.fromkeys(("client_late_s", "clients_overlap", "client_lag"))
    works = ~np.isnan(intervals["counted"]) & (intervals["operations"] > 0)
    work = only(intervals, works)
    of_each = [only(work, work["client"] == one["client"]) for one in clients]
    if not all(len(one["begun_s"]) for one in of_each):
        return {"started_together": True, **unknown}
    # an interval log begins with its first operation, so its beginning is exact
    begun = [float(one["begun_s"].min()) for one in of_each]
    ended = [float(ends_s(one).max()) for one in of_each]
    # clients divide a target evenly, whatever their threads
    even = rows.trial["target_ops_s"] is not None
    lags = if_all(
        over(rate(only(one, one["measured"])), 1 if even else client["threads"])
        for one, client in zip(of_each, clients, strict=True)
    )
    return {
        "started_together": True,
        "client_late_s": max(
            abs(first_s - one["begin_epoch_s"]) for first_s, one in zip(begun, clients, strict=True)
        ),
        "clients_overlap": over(max(0.0, min(ended) - max(begun)), max(ended) - min(begun)),
        "client_lag": None if lags is None else over(min(lags), max(lags)),
    }
