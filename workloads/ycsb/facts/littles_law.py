"""Little's law for each closed-loop trial: N = X (R + Z), with every term measured.

Each of the N client threads is either within an operation (latency R) or between two operations (think
time Z, the client's own time). So the time spent in both, per second, is N: X R within operations, and X Z
between them. If the law closes, every second of every thread is accounted for: rate and latency describe
the same operations, and no client stalled unnoticed.

The check uses whole intervals in which every thread works. In a timed run, these are the intervals after the
ramp-up except the last, in which the client ends. In a load, threads first look up the table and end at
different times, so these are the intervals from the second with operations to the last before a thread
cleans up.

Source: J. D. C. Little, A Proof for the Queuing Formula L = lambda W (1961). Z: `ThinkTimed` of the
project's YCSB client.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from density_study.workloads.base.rows import (
    Array,
    Columns,
    Row,
    Rows,
    exact_sum,
    if_all,
    only,
    window_s,
)
from density_study.workloads.ycsb.facts.intervals import ends_s
from density_study.workloads.ycsb.output.measurement import CLEANUP, READ_MODIFY_WRITE, THINK

# Operations whose time does not count: clean-up is outside the loop, and a read-modify-write's time is
# already counted in its read and its update.
NO_TIME = (CLEANUP, READ_MODIFY_WRITE)
MIN_INTERVALS = 3  # of a load: with fewer, operations that cross the first boundary weigh too much


def littles_law(rows: Rows, intervals: Columns) -> Row:
    """closed_loop, little_error: |X (R + Z) / N - 1|, None if a client's Z was not measured.

    closed_loop: whether the law must close. This is so for a timed run without a target rate, for a load
    that is long enough to be checked, and for a run of others of unknown duration. intervals: closed-loop.
    """
    trial = rows.trial
    if trial["target_ops_s"] is not None:
        return {"closed_loop": False, "little_error": None}
    clients = rows.of("clients")
    busy = [
        _busy_threads(trial, only(intervals, intervals["client"] == c["client"])) for c in clients
    ]
    found, threads = if_all(busy), if_all(one["threads"] for one in clients)
    all_found = None if found is None else exact_sum(found)
    is_run = trial["duration_s"] is not None
    of_others = trial["imported"] and trial["mix"] != "load"
    whole = all_found is not None and threads is not None and sum(threads) > 0
    return {
        "closed_loop": bool(is_run or all_found is not None or of_others),
        "little_error": abs(all_found / sum(threads) - 1)  # type: ignore[arg-type, operator]
        if whole
        else None,
    }


def _busy_threads(trial: Row, intervals: Columns) -> float | None:
    """Seconds within and between operations of one client, per second in which all its threads worked; None
    unless both were measured (in a load, for long enough)."""
    if window_s(trial) is None:
        return None
    is_load = trial["duration_s"] is None
    timed = ~np.isin(intervals["operation"], NO_TIME)
    last_s = np.full(len(timed), np.nan)
    for log in _logs(intervals):
        last_s[log] = intervals["begun_s"][log].max()
    if is_load:
        within = _within_a_load(intervals)
    else:
        cut_s = trial["window_start_epoch_s"] + trial["warm_up_s"]
        within = (intervals["begun_s"] >= cut_s) & (intervals["begun_s"] < last_s)
    used = only(intervals, timed & within & (intervals["length_s"] > 0))
    shares: list[float] = []
    measured = {True: False, False: False}  # between operations, and within
    for log in _logs(used):
        time_s = sum(round(us * 1e3) for us in used["time_us"][log].tolist()) / 1e3 / 1e6
        shares.append(time_s / (exact_sum(used["length_s"][log].tolist()) or np.nan))
        if not is_load or len(log) >= MIN_INTERVALS:
            measured[used["operation"][log[0]] == THINK] = True
    # without Z, the sum is only X R: an error of the law would only show the client's own time
    return exact_sum(shares) if all(measured.values()) else None


def _logs(intervals: Columns) -> Iterator[Array]:
    """The rows of each operation and outcome."""
    keys = np.array(
        [f"{o} {r}" for o, r in zip(intervals["operation"], intervals["outcome"], strict=True)]
    )
    for key in dict.fromkeys(keys.tolist()):
        yield np.flatnonzero(keys == key)


def _within_a_load(intervals: Columns) -> Array:
    """Intervals from the second with both operations and think times to the last before the first thread had
    finished; none if a log is missing, because it is then unknown when clean-up began."""
    seen, operation = intervals["operations"] > 0, intervals["operation"]
    succeeded = np.array([outcome is None for outcome in intervals["outcome"]], bool)
    of_users = seen & succeeded & ~np.isin(operation, (*NO_TIME, THINK))
    firsts = [
        intervals["begun_s"][kind].min()
        for kind in (of_users, seen & (operation == THINK))
        if kind.any()
    ]
    cleaning = seen & (operation == CLEANUP)
    if not firsts or not cleaning.any():
        return np.zeros(len(seen), bool)
    # an upper bound: the log has the end of the clean-ups and their total duration
    cleaned_up_s = (intervals["begun_s"] - intervals["time_us"] / 1e6)[cleaning].min()
    within: Array = (intervals["begun_s"] > max(firsts)) & (ends_s(intervals) <= cleaned_up_s)
    return within
