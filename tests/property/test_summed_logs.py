"""Sums over interval logs equal those of plain loops: percentiles, operations per second."""

from __future__ import annotations

import random
from collections import defaultdict

import pyarrow as pa
import pytest

from density_study.workloads import tables
from density_study.workloads.rows.histograms.intervals import with_facts
from density_study.workloads.rows.histograms.trial_logs import PERCENTILES, TrialLogs, merged
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.tables.arrow import arrow_table
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE
from tests.property.support.plain_sums import FACTS, OFFSET_S, RUNS, START_S, parts, whole
from tests.spark.support.oracle import percentile_ms


def intervals(rng: random.Random) -> tuple[pa.Table, dict[tuple[str, str], list[int]]]:
    """Rows of `ycsb_histograms`, and the measured latencies."""
    rows, measured = [], defaultdict(list)
    for line in range(60):
        start_s = START_S + OFFSET_S + rng.choice((0, 1.999, 2.0, 3.5))
        operation = rng.choice(("READ", "INSERT", READ_MODIFY_WRITE, *NOT_OF_USERS))
        outcome = rng.choice((None, None, "FAILED"))
        kind = rng.choice(("closed-loop", "intended"))
        latencies = [rng.randrange(1, 300) for _ in range(rng.randrange(40))]
        values = sorted(set(latencies))
        rows.append({"trial": "t", "client": rng.choice("ab"), "file": "f", "line": line,
                     "operation": operation, "outcome": outcome, "kind": kind, "start_epoch_s": start_s,
                     "length_s": 1.0, "operations": len(latencies), "value_us": values,
                     "counts": [latencies.count(value) for value in values]})  # fmt: skip
        if start_s - OFFSET_S >= START_S + 2 and operation not in NOT_OF_USERS and outcome is None:
            measured[operation, kind] += latencies
    table = arrow_table(tables.YCSB_HISTOGRAMS, rows)
    return with_facts(table, FACTS), measured


def in_two(rows: pa.Table, run: int) -> tuple[pa.Table, pa.Table]:
    cut = random.Random(run).randrange(len(rows))
    return rows.slice(0, cut), rows.slice(cut)


@pytest.mark.parametrize("run", RUNS)
def test_percentiles_are_those_of_all_latencies_together(run: int) -> None:
    rows, measured = intervals(random.Random(run))
    histograms = TrialLogs()
    for log in in_two(rows, run):
        histograms.add(log, FACTS)
    percentiles = {
        (row["operation"], row["latency_kind"], row["percentile"]): (
            row["value_us"],
            row["operations"],
        )
        for row in histograms.percentiles("t").to_pylist()
    }
    expected = {}
    for (operation, kind), latencies in measured.items():
        for percentile in PERCENTILES if latencies else ():
            value_ms = percentile_ms(sorted(latencies), percentile)
            value_us = None if value_ms is None else round(value_ms * 1000)
            expected[operation, kind, float(percentile)] = (value_us, len(latencies))
    assert percentiles == expected and percentiles


@pytest.mark.parametrize("run", RUNS)
def test_operations_of_a_second_are_the_sum_of_all_logs(run: int) -> None:
    rows, _ = intervals(random.Random(run))
    operations = TrialLogs()
    for log in in_two(rows, run):
        operations.add(log, FACTS)
    by_second = {row["second"]: row["operations"] for row in operations.seconds("t").to_pylist()}
    expected: dict[int, list[float]] = defaultdict(list)
    for row in rows.to_pylist():
        if (
            row["kind"] == "closed-loop"
            and row["outcome"] is None
            and row["operation"] not in NOT_OF_USERS
        ):
            since_s = row["start_epoch_s"] - OFFSET_S
            sign = -1 if row["operation"] == READ_MODIFY_WRITE else 1
            for second, inside_s in parts(since_s, since_s + row["length_s"]):
                length_s = since_s + row["length_s"] - since_s
                expected[second].append(sign * row["operations"] * (inside_s / length_s))
    assert by_second == {second: whole(done) for second, done in expected.items()} and by_second
    assert {row["interval_s"] for row in operations.seconds("t").to_pylist()} == {1.0}


def test_the_interval_of_operations_is_the_usual_one_of_the_logs() -> None:
    rows, _ = intervals(random.Random(1))
    place = rows.schema.get_field_index("length_s")
    lengths_s = [10.0 if number % 3 else 0.4 for number in range(len(rows))]
    operations = TrialLogs()
    operations.add(rows.set_column(place, rows.schema.field(place), pa.array(lengths_s)), FACTS)
    assert {row["interval_s"] for row in operations.seconds("t").to_pylist()} == {10.0}


def test_a_trial_without_a_window_has_no_seconds() -> None:
    rows, _ = intervals(random.Random(1))
    operations = TrialLogs()
    operations.add(rows, TrialFacts())
    assert operations.seconds("t").num_rows == 0


def test_merged_buckets_are_ascending_and_unique() -> None:
    values, counts = merged(pa.array([5, 9, 5, 1]).to_numpy(), pa.array([1, 2, 3, 4]).to_numpy())
    assert (values.tolist(), counts.tolist()) == ([1, 5, 9], [4, 4, 2])
