"""Coverage compared with a plain loop over the monitors' sample times, with gaps of every kind."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from density_study.workloads import tables
from density_study.workloads.monitors.facts import monitor_checks
from density_study.workloads.rows.monitors.deltas import with_host_neighbours, with_node_neighbours
from density_study.workloads.rows.monitors.host_aggregates import host_tables
from density_study.workloads.rows.monitors.node_aggregates import node_tables
from density_study.workloads.rows.monitors.sampling_rounds import LATE_PERIODS
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables.arrow import arrow_schema, arrow_table
from tests.unit.facts.made_rows import made_rows

START_S, END_S, PERIOD_S, OFFSET_S = 1.5e9, 1.5e9 + 30, 1.0, 0.25
TRIALS = 40
FACTS = TrialFacts((START_S, END_S), OFFSET_S, PERIOD_S)


def times(rng: random.Random) -> list[float]:
    """From before the window to after it, in quarters of a second; some lost, some duplicated, and
    in some trials the clock goes back."""
    at_s, times_s = START_S - 3, []
    while at_s < END_S + 3:
        at_s += rng.choice((1.0, 1.0, 1.0, 1.0, 0.75, 1.25, 1.75, 2.0, 4.5))
        if rng.random() > 0.1:
            times_s.append(at_s)
    begin = rng.randrange(len(times_s))
    return times_s + times_s[begin:] if rng.random() < 0.5 else times_s


def expected(epoch_s: set[float]) -> float:
    """Present samples over present and missing ones, counted as in method 20."""
    inside = sorted(at for t in epoch_s if START_S < (at := t - OFFSET_S) <= END_S)
    if not inside:
        return 0.0
    edges = [START_S, *inside, END_S]
    gaps = [(later - earlier) / PERIOD_S for earlier, later in pairwise(edges)]
    lost = sum(max(0, math.floor(gap + LATE_PERIODS) - 1) for gap in gaps)
    return len(inside) / (len(inside) + lost)


def dool(trial: str, sampled: list[float]) -> pa.Table:
    rows = [
        {"trial": trial, "host": "h", "line": n, "epoch_s": at_s, "since_boot": n == 0}
        for n, at_s in enumerate(sampled)
    ]
    table = arrow_table(tables.HOST_SAMPLES, rows)
    subject = Subject(trial, "dool", "h", len(table), FACTS)
    return dict(host_tables(with_host_neighbours(table), [subject]))[tables.MONITOR_ROUNDS]


def nodecpu(trial: str, sampled: list[float], rng: random.Random) -> pa.Table:
    """One node or both in each round."""
    rows: list[dict[str, Any]] = [
        {"trial": trial, "host": "h", "epoch_s": at_s, "node": node, "user_ticks": 0, "system_ticks": 0}
        for at_s in sampled
        for node in rng.choice((("w1", "w2"), ("w1",), ("w2",)))
    ]  # fmt: skip
    numbered = [{**row, "line": line} for line, row in enumerate(rows)]
    table = pa.Table.from_pylist(numbered, arrow_schema(tables.NODE_CPU_SAMPLES))
    return dict(node_tables(with_node_neighbours(table), FACTS))[tables.MONITOR_ROUNDS]


@pytest.mark.parametrize("kind", ("dool", "nodecpu"))
def test_every_gap_counts_once(kind: str) -> None:
    rng = random.Random(20)
    sampled_by_trial = {f"t{number}": times(rng) for number in range(TRIALS)}
    sampled_by_trial["without"] = [START_S - 60, START_S - 59]
    about = {"window_start_epoch_s": START_S, "window_end_epoch_s": END_S}
    monitors = [{"kind": kind, "host": "h", "period_s": PERIOD_S, "clock_offset_s": OFFSET_S}]
    coverage = {}
    for trial, sampled in sampled_by_trial.items():
        rounds = dool(trial, sampled) if kind == "dool" else nodecpu(trial, sampled, rng)
        rows = made_rows(about, {"monitors": monitors, "monitor_rounds": rounds})
        coverage[trial] = monitor_checks(rows, ())["monitor_coverage"]
    # dool's first line is a mean since boot
    counted = {
        t: set(sampled[1:] if kind == "dool" else sampled)
        for t, sampled in sampled_by_trial.items()
    }
    assert coverage == {t: pytest.approx(expected(sampled)) for t, sampled in counted.items()}
    assert 0 < min(coverage[t] for t in coverage if t != "without") < 0.9
