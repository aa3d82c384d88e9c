"""Differences of a sample to its predecessor in the file: known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from density_study.workloads import tables
from density_study.workloads.rows.file_tables import by_rows, tables_of
from density_study.workloads.rows.monitors.deltas import with_host_neighbours, with_node_neighbours
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.tables.arrow import arrow_schema
from tests.support.records import texts


def host_rows(*samples: tuple[float | None, bool]) -> list[dict[str, Any]]:
    """samples: epoch_s and since_boot of each line."""
    rows = [
        {"trial": "t", "host": "h", "line": line, "epoch_s": epoch_s, "since_boot": since_boot}
        for line, (epoch_s, since_boot) in enumerate(samples, start=1)
    ]
    table = pa.Table.from_pylist(rows, arrow_schema(tables.HOST_SAMPLES))
    result: list[dict[str, Any]] = with_host_neighbours(table).to_pylist()
    return result


def node_rows(*samples: tuple[float, str, int, int]) -> list[dict[str, Any]]:
    """samples: epoch_s, node, user and system ticks of each line."""
    names = ("epoch_s", "node", "user_ticks", "system_ticks")
    rows = [
        {"trial": "t", "host": "h", "line": line, **dict(zip(names, sample, strict=True))}
        for line, sample in enumerate(samples, start=1)
    ]
    table = pa.Table.from_pylist(rows, arrow_schema(tables.NODE_CPU_SAMPLES))
    result: list[dict[str, Any]] = with_node_neighbours(table).to_pylist()
    return result


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def test_a_sample_since_boot_has_no_predecessor() -> None:
    rows = host_rows((1.0, True), (2.0, False), (3.5, False), (3.9, True), (4.0, False))
    assert column(rows, "since_epoch_s") == [None, None, 2.0, None, 3.5]
    assert column(rows, "repeated") == [False] * 5


def test_a_duplicate_second_counts_once() -> None:
    rows = host_rows((1.0, False), (2.0, False), (2.0, False), (3.0, False))
    assert column(rows, "repeated") == [False, False, True, False]
    assert column(rows, "since_epoch_s") == [None, 1.0, None, 2.0]


def test_a_host_clock_that_goes_back_is_read_in_time_order() -> None:
    rows = host_rows((3.0, False), (4.0, False), (2.0, False), (3.0, False), (3.5, False))
    assert column(rows, "repeated") == [False, False, False, True, False]
    assert column(rows, "since_epoch_s") == [2.0, 3.5, None, None, 3.0]


def test_a_sample_without_a_time_is_skipped() -> None:
    rows = host_rows((1.0, False), (None, False), (2.0, False))
    assert column(rows, "since_epoch_s") == [None, None, 1.0]
    assert column(rows, "repeated") == [False] * 3


def test_steps_start_at_the_nodes_own_previous_sample() -> None:
    rows = node_rows(
        (1.0, "w1", 100, 10), (1.0, "w2", 7, 1), (2.0, "w1", 160, 15), (2.0, "w2", 7, 3)
    )
    assert column(rows, "since_epoch_s") == [None, None, 1.0, 1.0]
    assert column(rows, "user_step") == [None, None, 60, 0]
    assert column(rows, "system_step") == [None, None, 5, 2]
    assert column(rows, "begins_round") == [True, False, True, False]
    assert column(rows, "round_since_epoch_s") == [None, None, 1.0, None]


def test_a_node_that_appears_late_counts_from_zero_without_a_start_time() -> None:
    rows = node_rows(
        (1.0, "w1", 5, 5), (2.0, "w1", 6, 6), (2.0, "late", 40, 4), (3.0, "late", 50, 4)
    )
    assert column(rows, "user_step") == [None, 1, 40, 10]
    assert column(rows, "system_step") == [None, 1, 4, 0]
    assert column(rows, "since_epoch_s") == [None, 1.0, None, 2.0]
    assert column(rows, "begins_round") == [True, True, False, True]
    assert column(rows, "round_since_epoch_s") == [None, 1.0, None, 2.0]


def test_a_node_that_misses_a_round_counts_since_its_last_sample() -> None:
    rows = node_rows((1.0, "w1", 5, 0), (1.0, "w2", 5, 0), (2.0, "w2", 6, 0), (3.0, "w1", 9, 0))
    assert column(rows, "since_epoch_s") == [None, None, 1.0, 1.0]
    assert column(rows, "round_since_epoch_s") == [None, None, 1.0, 2.0]


def test_falling_ticks_give_no_step() -> None:
    """Like after a restart of the sampler, when a process has ended in between."""
    rows = node_rows((1.0, "w1", 100, 50), (2.0, "w1", 30, 60), (3.0, "w1", 35, 20))
    assert column(rows, "user_step") == [None, 0, 5]
    assert column(rows, "system_step") == [None, 10, 0]


def test_a_clock_that_goes_back_is_read_in_order_of_time_and_line() -> None:
    rows = node_rows((5.0, "w1", 50, 0), (6.0, "w1", 60, 0), (4.0, "w1", 40, 0), (5.0, "w1", 55, 0))
    assert column(rows, "since_epoch_s") == [4.0, 5.0, None, 5.0]
    assert column(rows, "user_step") == [10, 5, None, 5]
    assert column(rows, "begins_round") == [True, True, True, False]
    assert column(rows, "round_since_epoch_s") == [4.0, 5.0, None, None]


@pytest.mark.parametrize(
    "read", (lambda file: tables_of([file]), by_rows), ids=("by columns", "by rows")
)
def test_a_file_with_two_starts_is_one_series(read: Any, tmp_path: Path) -> None:
    first = texts.nodecpu([(1.5e9 + s, {"w1": (s, 0), "w2": (0, s)}) for s in (0, 1)])
    second = texts.nodecpu([(1.5e9 + s, {"w1": (s, 0), "w2": (0, s)}) for s in (3, 5)])
    path = tmp_path / "file"
    path.write_text(first + second)
    file = RawFile("t", "nodecpu", "h", "monitor/h.nodecpu.csv", str(path))
    samples = dict(read(file))[tables.NODE_CPU_SAMPLES]
    of_w1 = [row for row in samples.to_pylist() if row["node"] == "w1"]
    assert column(of_w1, "user_step") == [None, 1, 2, 2]
    assert [r["epoch_s"] - (r["since_epoch_s"] or 0) for r in of_w1[1:]] == [1, 2, 2]
    assert samples.schema.names == arrow_schema(tables.NODE_CPU_SAMPLES).names
