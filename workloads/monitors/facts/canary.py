"""What the canary shows: how fast the machines themselves were around a trial, and whether that was another
speed than around the run's other trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import exp, log, pi, sqrt
from statistics import fmean, median

from density_study.workloads.base.rows import Row, Rows, metric

MOST_ERRORS = 4.0
"""Standard errors of a trial's time that count as its noise.

The blocks of a burst are not independent: a neighbour that lasts as long as the burst slows all of them. So
an error is that of the trial's blocks, or what the bursts before and after the run's trials show, whichever
is larger. On a machine that does not change, less than 1 % of trials are flagged, whatever the noise. By
the blocks only, up to 10 % were.
"""
_LEAST_BLOCKS, _LEAST_TRIALS = 6, 3
_WORDS = {
    "compute": "computation", "memory": "copies in memory", "wake": "wake-ups between cores",
    "touch": "first touch of memory",
}  # fmt: skip
OF_OTHER_TRIALS = ("machine_apart", "machine_time", "machine_where")
"""Columns of `checks` that need the run's other trials."""


def canary_metrics(rows: Rows) -> Iterator[Row]:
    """canary_<work> of each machine: microseconds of the fixed work around the trial."""
    for row in rows.of("machine_speed"):
        yield metric(f"canary_{row['work']}", "us", row["around_us"], scope=f"host:{row['host']}")


def apart(speeds: Iterable[Row]) -> Mapping[str, Row]:
    """OF_OTHER_TRIALS of each trial, of the machine and work that was furthest from its median over all
    trials; all None with too few. speeds: rows of `machine_speed` of the run.

    machine_time: time of the fixed work over that median. machine_apart: how much of it, as a share, is more
    than noise.
    """
    alike: dict[tuple[str, str], list[Row]] = defaultdict(list)
    trials: dict[str, Row] = {}
    for row in speeds:
        trials[row["trial"]] = dict.fromkeys(OF_OTHER_TRIALS)
        if row["around_us"] is not None and row["blocks"] >= _LEAST_BLOCKS:
            alike[row["host"], row["work"]].append(row)
    for (host, work), rows in alike.items():
        if len(rows) < _LEAST_TRIALS:
            continue
        usual = median(log(row["around_us"]) for row in rows)
        between = _between_bursts(rows)
        for row in rows:
            change = log(row["around_us"]) - usual
            beyond = max(0.0, abs(change) - MOST_ERRORS * max(row["around_error"], between))
            worst = trials[row["trial"]]
            if worst["machine_apart"] is None or exp(beyond) - 1 > worst["machine_apart"]:
                found = exp(beyond) - 1, exp(change), f"{_WORDS[work]} on {host}"
                worst.update(zip(OF_OTHER_TRIALS, found, strict=True))
    return trials


def _between_bursts(rows: Iterable[Row]) -> float:
    """Standard error of a trial's mean of two bursts, by their differences: a machine that is slower around
    a whole trial does not add to it, and one that changes meanwhile adds once to the mean of all trials."""
    halves = [abs(row["around_moved"]) / 2 for row in rows if row["around_moved"] is not None]
    return sqrt(pi / 2) * fmean(halves) if halves else 0.0
