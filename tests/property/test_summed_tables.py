"""Sums over arrays equal those of plain loops over samples: windows and seconds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from density_study.workloads import tables
from density_study.workloads.rows.arrays.exact_sums import exact_sums
from density_study.workloads.rows.arrays.spans import AROUND_S
from density_study.workloads.rows.file_tables import summed
from density_study.workloads.rows.monitors.deltas import with_host_neighbours, with_node_neighbours
from density_study.workloads.rows.monitors.host_aggregates import DISKS, MEANS, SHARES, host_tables
from density_study.workloads.rows.monitors.node_aggregates import PARTS, node_tables
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_table
from tests.property.support.plain_sums import (
    END_S,
    FACTS,
    OFFSET_S,
    PERIOD_S,
    RUNS,
    START_S,
    WINDOW,
    parts,
    whole,
)

Row = dict[str, Any]


def times(rng: random.Random) -> list[float]:
    """From before the window to after it; some late, some lost, and in some the clock goes back."""
    at_s, times_s = START_S - 3, []
    while at_s < END_S + 3:
        at_s = round(at_s + rng.choice((1.0, 1.0, 1.001, 0.75, 1.25, 3.0)), 3)
        times_s.append(at_s)
    begin = rng.randrange(len(times_s))
    return times_s + times_s[begin:] if rng.random() < 0.3 else times_s


def host_samples(rng: random.Random) -> pa.Table:
    """Some columns are missing completely, some only in some samples."""
    untold = [name for name in MEANS if rng.random() < 0.1]
    rows = []
    for line, at_s in enumerate(times(rng)):
        cells = {name: rng.uniform(0, 100) for name in MEANS if rng.random() < 0.97}
        cells |= {name: float(rng.randrange(2**30)) for name in DISKS}
        cells |= dict.fromkeys(untold)
        rows.append({"trial": "t", "host": "h", "line": line, "epoch_s": at_s,
                     "since_boot": line == 0, **cells})  # fmt: skip
    return with_host_neighbours(arrow_table(tables.HOST_SAMPLES, rows))


def node_samples(rng: random.Random) -> pa.Table:
    spent: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    rows: list[Row] = []
    cores = 2
    for at_s in times(rng):
        cores = 4 if rng.random() < 0.05 else cores
        for node in ("w1", "c1", "c2", "monitor"):
            ticks = spent[node]
            ticks[0] += rng.randrange(90)
            ticks[1] += rng.randrange(9)
            if rng.random() < 0.9:
                rows.append({"trial": "t", "host": "h", "epoch_s": at_s, "node": node, "line": len(rows),
                             "user_ticks": ticks[0], "system_ticks": ticks[1], "ticks_per_s": 100,
                             "cores": cores})  # fmt: skip
    return with_node_neighbours(arrow_table(tables.NODE_CPU_SAMPLES, rows))


def of_one(samples: pa.Table, facts: TrialFacts) -> Iterator[tuple[Table, pa.Table]]:
    return host_tables(samples, [Subject("t", "dool", "h", len(samples), facts)])


def rows_of_table(batches: Iterator[tuple[Table, pa.Table]], table: Table) -> list[Row]:
    return [
        row for batch_table, rows in batches if batch_table is table for row in rows.to_pylist()
    ]


def mean(name: str, weighted: list[tuple[float, Row]]) -> float | None:
    present = [(weight, row[name]) for weight, row in weighted if row[name] is not None]
    steps = 1e9 if name.startswith("cpu_") else 1e3
    values = [value * weight for weight, value in present]
    return whole(values, steps) / whole([weight for weight, _ in present]) if present else None


def inside_s(since_s: float, until_s: float, from_s: float = START_S + FACTS.warm_up_s) -> float:
    return max(0.0, min(until_s, END_S) - max(since_s, from_s))


@pytest.mark.parametrize("run", RUNS)
def test_a_hosts_window_and_seconds(run: int) -> None:
    samples = host_samples(random.Random(run))
    used = [row for row in samples.to_pylist() if not row["since_boot"] and not row["repeated"]]
    spans = [(r["epoch_s"] - OFFSET_S - PERIOD_S, r["epoch_s"] - OFFSET_S, r) for r in used]
    (use,) = rows_of_table(of_one(samples, FACTS), tables.HOST_USE)
    window = [(inside_s(since, until), row) for since, until, row in spans]
    window = [(weight, row) for weight, row in window if weight > 0]
    assert {name: use[name] for name in MEANS} == {name: mean(name, window) for name in MEANS}
    assert use["measured_s"] == whole([weight for weight, _ in window])
    all_of_it = [(inside_s(since, until, START_S), row) for since, until, row in spans]
    all_of_it = [(weight, row) for weight, row in all_of_it if weight > 0]
    idle = [mean(name, all_of_it) for name in ("cpu_idle", "cpu_iowait", "cpu_steal")]
    present = [share for share in idle if share is not None]
    used = 100.0 - sum(present) if len(present) == len(idle) else None
    assert use["cpu_used_whole"] == (None if used is None else pytest.approx(used))
    seconds: dict[int, list[tuple[float, Row]]] = defaultdict(list)
    for since, until, row in spans:
        for second, weight in parts(since, until):
            seconds[second].append((weight, row))
    for table, names in ((tables.TRIAL_CPU_SERIES, SHARES), (tables.HOST_DISK_SERIES, DISKS)):
        by_second = {row["second"]: row for row in rows_of_table(of_one(samples, FACTS), table)}
        assert list(by_second) == sorted(seconds)
        for second, weighted in seconds.items():
            assert {name: by_second[second][name] for name in names} == {
                name: mean(name, weighted) for name in names
            }


@pytest.mark.parametrize("run", RUNS)
def test_files_give_the_same_sums_together_and_alone(run: int) -> None:
    rng = random.Random(run)
    pieces, subjects = [], []
    for number in range(rng.randrange(1, 6)):
        named = {"trial": f"t{number // 2}", "host": rng.choice(("h", "w1.h")) + str(number)}
        shift_s = rng.choice((0.0, 0.0, 40.0))  # and then all samples are outside the window
        window = rng.choice((WINDOW, WINDOW, None))
        warm_up_s = rng.choice((2.0, 0.0, 99.0))
        facts = TrialFacts(window and (window[0] + shift_s, window[1] + shift_s), OFFSET_S * number,
                           PERIOD_S, warm_up_s)  # fmt: skip
        samples = host_samples(rng)
        if rng.random() < 0.2:
            samples = samples.slice(0, 1)  # since boot: never used
        pieces.append(renamed(samples, named))
        subjects.append(Subject(named["trial"], "dool", named["host"], len(samples), facts))
    together = list(host_tables(pa.concat_tables(pieces), subjects))
    alone = [
        of_all
        for piece, subject in zip(pieces, subjects, strict=True)
        for of_all in host_tables(piece, [subject])
    ]
    for table in {item_table for item_table, _ in [*together, *alone]}:
        assert rows_of_table(iter(together), table) == rows_of_table(iter(alone), table)


def renamed(samples: pa.Table, named: dict[str, str]) -> pa.Table:
    for name, text in named.items():
        place = samples.schema.get_field_index(name)
        samples = samples.set_column(
            place, samples.schema.field(place), pa.array([text] * len(samples))
        )
    return samples


@pytest.mark.parametrize("run", RUNS)
def test_the_sum_of_shares_deviates_little_from_a_hundred(run: int) -> None:
    samples = host_samples(random.Random(run))
    used = [row for row in samples.to_pylist() if not row["since_boot"] and not row["repeated"]]
    worst: float | None = 0.0
    for row in used:
        shares = [row[name] for name in SHARES if name != "cpu_irq"]
        if None in shares or worst is None:
            worst = None
        else:
            worst = max(worst, abs(sum(shares) + (row["cpu_irq"] or 0.0) - 100.0))
    (use,) = rows_of_table(of_one(samples, TrialFacts()), tables.HOST_USE)
    assert use["cpu_sum_error"] == (None if worst is None else pytest.approx(worst))
    assert use["measured_s"] == 0 and use["cpu_user"] is None  # of no window


@pytest.mark.parametrize("run", RUNS)
def test_a_nodes_window_and_seconds(run: int) -> None:
    samples = node_samples(random.Random(run))
    window_s = END_S - START_S - FACTS.warm_up_s
    spent: dict[tuple[str, int], list[tuple[float, Row]]] = defaultdict(list)
    seconds: dict[tuple[str, int, int], list[tuple[float, float, Row]]] = defaultdict(list)
    for row in samples.to_pylist():
        until = row["epoch_s"] - OFFSET_S
        before = row["since_epoch_s"]
        since = until - PERIOD_S if before is None else before - OFFSET_S
        if row["user_step"] is None or until <= since:  # a node's duplicate time
            continue
        share = inside_s(since, until) / (until - since)
        spent[row["node"], row["cores"]].append((share, row))
        scope = FACTS.scopes.get(row["node"], row["node"])
        for second, part_s in parts(since, until):
            seconds[scope, second, row["cores"]].append((part_s, part_s / (until - since), row))
    expected_use = [
        (node, window_s * 100 * cores, *(ticks(part, steps) for part in PARTS))
        for (node, cores), steps in spent.items()
    ]
    names = ("node", "capacity_ticks", "user_ticks", "system_ticks")
    assert values_of(samples, tables.NODE_USE, names) == sorted(expected_use)
    expected_seconds = []
    for (scope, second, cores), cut in seconds.items():
        capacity = whole([part_s for part_s, _, _ in cut]) * 100 * cores
        spent_in = [(share, row) for _, share, row in cut]
        shares = (100.0 * ticks(part, spent_in) / capacity for part in PARTS)
        expected_seconds.append((scope, second, *shares))
    names = ("scope", "second", "cpu_user", "cpu_system")
    assert values_of(samples, tables.TRIAL_CPU_SERIES, names) == sorted(expected_seconds)


def ticks(part: str, steps: list[tuple[float, Row]]) -> float:
    return whole([row[f"{part}_step"] * share for share, row in steps])


def values_of(samples: pa.Table, table: Table, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    columns = rows_of_table(node_tables(samples, FACTS), table)
    return sorted(tuple(row[name] for name in names) for row in columns)


def test_a_clock_that_is_years_off_does_not_create_a_billion_seconds() -> None:
    rows = [{"trial": "t", "host": "h", "epoch_s": at_s, "node": "w1", "line": line, "user_ticks": 10 * line,
             "system_ticks": 0, "ticks_per_s": 100, "cores": 2}
            for line, at_s in enumerate((1.0, START_S + 1, 4.0e9))]  # fmt: skip
    samples = with_node_neighbours(arrow_table(tables.NODE_CPU_SAMPLES, rows))
    seconds = rows_of_table(node_tables(samples, FACTS), tables.TRIAL_CPU_SERIES)
    seconds = [row["second"] for row in seconds]
    assert (min(seconds), max(seconds)) == (-AROUND_S, 12 + AROUND_S)
    assert len(seconds) == 2 * AROUND_S + 13


def test_an_impossible_sum_is_an_error_instead_of_a_wrong_number() -> None:
    with pytest.raises(OverflowError, match="more than any machine"):
        exact_sums(pa.array([6e9, 6e9]).to_numpy(), np.zeros(1, int))


def test_of_several_files_only_the_overflowing_one_is_quarantined() -> None:
    sound, wild = host_samples(random.Random(1)), host_samples(random.Random(2))
    place = wild.schema.get_field_index("disk_read_bytes_s")
    wild = wild.set_column(place, wild.schema.field(place), pa.array([9e15] * len(wild)))
    files = [RawFile("t", "dool", name, f"monitor/{name}.dool.csv", "", facts=FACTS)
             for name in ("h", "wild", "i")]  # fmt: skip
    pieces = [
        renamed(rows, {"host": file.subject})
        for rows, file in zip((sound, wild, sound), files, strict=True)
    ]
    counts = [len(piece) for piece in pieces]
    batches = list(
        summed(tables.HOST_SAMPLES, pa.concat_tables(pieces), list(zip(files, counts, strict=True)))
    )
    (bad,) = rows_of_table(iter(batches), tables.QUARANTINE)
    assert bad["file"] == "monitor/wild.dool.csv" and "more than any machine" in bad["reason"]
    assert [row["host"] for row in rows_of_table(iter(batches), tables.HOST_USE)] == ["h", "i"]
