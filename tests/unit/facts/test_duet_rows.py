"""A trial that takes turns shows what it did in its own ones: rate, drift, coverage, CPU of hosts and nodes.

The made-up client does 100 operations a second in its turns, the host is 90 % busy in them and 10 % in those
of the other trial, and the node uses half of two cores. All clocks are 0.25 s ahead, and no edge is whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from density_study.workloads import tables
from density_study.workloads.rows.histograms.intervals import with_facts
from density_study.workloads.rows.histograms.trial_logs import TrialLogs
from density_study.workloads.rows.monitors.deltas import with_host_neighbours, with_node_neighbours
from density_study.workloads.rows.monitors.host_aggregates import host_tables
from density_study.workloads.rows.monitors.node_aggregates import node_tables
from density_study.workloads.rows.monitors.sampling_rounds import sampling_rounds
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.readers import read
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.ycsb.facts.intervals import drift, rate
from tests.support.records.device_rows import START_S as DEVICES_START_S
from tests.support.records.device_rows import aggregated

START_S, OFFSET_S, TURN_S, RATE = 1.5e9 + 0.4, 0.25, 4.0, 100.0
OWN = (0, 3, 4, 7, 9, 10)
"""Which of twelve turns are the trial's; the last one is the other's."""
TURNS = tuple((START_S + TURN_S * n, START_S + TURN_S * (n + 1)) for n in OWN)
FACTS = TrialFacts((START_S, START_S + 24.0), OFFSET_S, 1.0, turns=TURNS)
ALONE = TrialFacts((START_S, START_S + 48.0), OFFSET_S, 1.0)
ENDS_S = START_S + 0.3 + np.arange(-4.0, 52.0)
"""Ends of seconds of the client's log and of the monitors, controller's clock."""


def worked_s(since_s: float, until_s: float) -> float:
    return sum(max(0.0, min(until_s, end) - max(since_s, begin)) for begin, end in TURNS)


@pytest.fixture(scope="module")
def intervals() -> pa.Table:
    rows = []
    for line, end_s in enumerate(ENDS_S):
        done = round(RATE * worked_s(end_s - 1, end_s))
        counts = {"value_us": [5000], "counts": [done]} if done else {"value_us": [], "counts": []}
        rows.append({"trial": "t", "client": "c", "file": "f", "line": line, "operation": "READ",
                     "outcome": None, "kind": "closed-loop", "start_epoch_s": end_s - 1 + OFFSET_S,
                     "length_s": 1.0, "operations": done, **counts})  # fmt: skip
    return pa.Table.from_pylist(rows, arrow_schema(tables.YCSB_HISTOGRAMS))


def inside(table: pa.Table) -> dict[str, np.ndarray]:
    names = ("begun_s", "length_s", "counted", "measured")
    found = {name: table[name].to_numpy(zero_copy_only=False) for name in names}
    within = found["begun_s"] >= START_S
    return {name: values[within] for name, values in found.items()}


def test_the_rate_is_that_of_its_own_turns_and_does_not_drift(intervals: pa.Table) -> None:
    found = inside(with_facts(intervals, FACTS))
    assert rate(found) == pytest.approx(RATE, rel=0.02)
    assert drift(found) == pytest.approx(1.0, abs=0.03)
    assert found["counted"].sum() == 24 * RATE - 30  # those of the interval that began before
    assert (found["length_s"] >= 0).all()  # also of those that began after its last turn


def test_each_second_of_its_time_has_its_operations(intervals: pa.Table) -> None:
    logs = TrialLogs()
    logs.add(with_facts(intervals, FACTS), FACTS)
    rows = logs.seconds("t").to_pylist()
    assert [row["interval_s"] for row in rows] == pytest.approx([1.0] * len(rows))
    seconds = {row["second"]: row["operations"] for row in rows}
    # the first interval began before the window
    assert [seconds[second] for second in range(1, 24)] == pytest.approx([RATE] * 23, rel=0.02)


def samples() -> Iterator[tuple[float, float]]:
    """End of each second on the host's clock, and the part of it in which the trial worked."""
    for end_s in ENDS_S:
        yield end_s + OFFSET_S, worked_s(end_s - 1, end_s)


def test_the_host_counts_only_in_its_turns() -> None:
    rows = [
        {"trial": "t", "host": "h", "line": line, "epoch_s": at_s, "since_boot": line == 0,
         "cpu_user": 10 + 80 * part, "cpu_system": 0.0, "cpu_idle": 90 - 80 * part, "cpu_iowait": 0.0,
         "cpu_steal": 0.0}
        for line, (at_s, part) in enumerate(samples())
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, arrow_schema(tables.HOST_SAMPLES))
    used = {}
    for facts in (FACTS, ALONE):
        found = dict(
            host_tables(with_host_neighbours(table), [Subject("t", "dool", "h", len(rows), facts)])
        )
        (use,) = found[tables.HOST_USE].to_pylist()
        (rounds,) = found[tables.MONITOR_ROUNDS].to_pylist()
        used[facts] = use["cpu_used_whole"]
        assert rounds["lost"] == 0
    assert used[FACTS] == pytest.approx(90.0, abs=1)  # the first sample began before the window
    assert used[ALONE] == pytest.approx(50.0, abs=1)


@pytest.mark.parametrize("busy", [0.0, 0.4])
def test_ticks_of_its_own_turns_count(busy: float) -> None:
    """One of two cores in its turns, and `busy` cores in the other's: it flushes and compacts there as well.
    A tick of a second that has parts of both may be of either."""
    ticks, rows = 0.0, []
    for line, (at_s, part) in enumerate(samples()):
        ticks += 100 * (part + busy * (1 - part))
        rows.append({"trial": "t", "host": "h", "line": line, "epoch_s": at_s, "node": "w1",
                     "user_ticks": round(ticks), "system_ticks": 0, "ticks_per_s": 100,
                     "cores": 2})  # fmt: skip
    table = pa.Table.from_pylist(rows, arrow_schema(tables.NODE_CPU_SAMPLES))
    found = dict(node_tables(with_node_neighbours(table), FACTS))
    (use,) = found[tables.NODE_USE].to_pylist()
    assert use["user_ticks"] / use["capacity_ticks"] == pytest.approx(0.5, abs=0.01)
    # of 24 s, without 0.7 s at each of four edges to the other's turns, and 0.3 s at three from these
    assert use["capacity_ticks"] / 200 == pytest.approx(20.3, abs=0.01)
    seconds = found[tables.TRIAL_CPU_SERIES].to_pylist()
    # the first increment began before the window
    assert {round(row["cpu_user"]) for row in seconds if 1 <= row["second"] < 24} == {50}


def test_a_round_in_turns_of_the_other_makes_up_for_none() -> None:
    """All samples of its last two turns are lost, which are 8 s of 24."""
    begin_s, end_s = TURNS[-2][0], TURNS[-1][1]
    at_s = ENDS_S[[not begin_s <= one_s <= end_s for one_s in ENDS_S]] + OFFSET_S
    (row,) = sampling_rounds("dool", {}, at_s, np.append(np.nan, at_s[:-1]), FACTS)
    assert row["seen"] == pytest.approx(16, abs=4)  # and one at each edge
    assert row["lost"] == pytest.approx(8, abs=1)


EVENTS = {  # begin and end on the clock, after the first turn began; in the trial's time
    "own": ((1.0, 3.0), (1.0, 3.0)),
    "into the other's": ((3.0, 6.0), (3.0, 4.0)),
    "in the other's": ((5.0, 7.0), None),
    "from the other's": ((9.0, 13.0), (4.0, 5.0)),
}


@pytest.mark.parametrize(("clock_s", "own_s"), EVENTS.values(), ids=EVENTS)
def test_an_event_lasts_as_long_as_it_does_in_its_turns(
    clock_s: tuple[float, float], own_s: tuple[float, float] | None, tmp_path: Path
) -> None:
    begin_s, end_s = (START_S + OFFSET_S + at_s for at_s in clock_s)
    lasted_ms = round(1000 * (end_s - begin_s))
    call = {"method": "Scan", "starttimems": round(1000 * begin_s), "processingtimems": lasted_ms}
    path = tmp_path / "h.slowlog.csv"
    line = f"{end_s + 1},w1/regionserver-1,{json.dumps(call)}"
    path.write_text(f"# slowlog format 1, host=h\n{line}\n")
    file = RawFile("t", "slowlog", "h", path.name, str(path), facts=FACTS)
    counted = [{"compactions": 7.0}, {"compactions": 8.0, "compaction_longest_ms": lasted_ms}]
    sampled = [(at_s + START_S - DEVICES_START_S, "w1/regionserver-1", cells)
               for at_s, cells in zip((-9.0, clock_s[1]), counted, strict=True)]  # fmt: skip
    made = [row for _, row in read(file)], aggregated("jmx", sampled, FACTS)["device_events"]
    expected = [] if own_s is None else [pytest.approx(own_s, abs=0.01)]
    for rows in made:
        assert [(row["start_s"], row["end_s"]) for row in rows] == expected
