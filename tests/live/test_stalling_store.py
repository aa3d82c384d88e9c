"""A known answer: a store that stalls 500 ms once a second, under a fixed request rate of the real
YCSB.

Of operations scheduled evenly in time, the share that waits longer than x ms is (500 - x) / 1000.
So intended p95 is 450 ms and p99 is 490 ms. A closed loop sends one operation per thread into each
stall, 2 of the second's 600: its p99 does not show them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from density_study.workloads.ycsb.faults import faults_of_all
from density_study.workloads.ycsb.output.histogram import Histogram
from density_study.workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from density_study.workloads.ycsb.properties import client_arguments, client_name
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.java_client import YCSB, compiled, instead, java_argv
from tests.support.histograms import merge, percentile_us

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

TEST_CASE = YcsbTestCase(mix="b", records=1000, threads=2, clients=2, duration_s=16, warm_up_s=5,
                      target_ops_s=600)  # fmt: skip
STALLS = ("-p", "stall.ms=500", "-p", "stall.every.ms=1000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output of two clients of one trial, with the properties from a study."""
    folder = tmp_path_factory.mktemp("stalls")
    path = compiled(folder, "AnsweringDb", "StallingDb")
    clients = [_start(folder, path, number) for number in (1, 2)]
    assert [client.wait(timeout=60) for client in clients] == [0, 0]
    return folder


def _start(folder: Path, path: list[str], number: int) -> subprocess.Popen[bytes]:
    name = client_name(number)
    words = client_arguments(TEST_CASE, f"{folder}/{name}-", number)
    words = (*instead(words, "-db", "org.densitystudy.ycsb.StallingDb"), *STALLS)
    out, err = (folder / f"{name}.{suffix}" for suffix in ("out", "err"))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        return subprocess.Popen(java_argv(path, YCSB, *words), stdout=stdout, stderr=stderr)


def _after_warm_up(folder: Path, intended: bool) -> Iterator[IntervalRow]:
    for path in sorted(folder.glob("ycsb-*.hdr")):
        parsed = parse_hdr(path.read_bytes(), path.name)
        assert not parsed.quarantined
        rows = [row for row in parsed.rows if row.intended == intended]
        for row in rows:
            at_s = row.start_epoch_s - parsed.rows[0].start_epoch_s
            if row.measurement.operation != "CLEANUP" and at_s >= TEST_CASE.warm_up_s:
                yield row


def _merged(folder: Path, intended: bool) -> Histogram:
    return merge(row.histogram() for row in _after_warm_up(folder, intended))


def test_every_operation_returned(folder: Path) -> None:
    assert faults_of_all(folder, TEST_CASE) == ()


def test_the_target_was_reached_in_spite_of_the_stalls(folder: Path) -> None:
    """The edges of the measured time may be in a stall."""
    rows = list(_after_warm_up(folder, intended=True))
    seconds = max(r.start_epoch_s + r.length_s for r in rows) - min(r.start_epoch_s for r in rows)
    assert sum(row.operations for row in rows) / seconds == pytest.approx(600, rel=0.1)


def test_intended_latency_shows_the_full_stall(folder: Path) -> None:
    intended = _merged(folder, intended=True)
    assert percentile_us(intended, 95) / 1000 == pytest.approx(450, abs=12)
    assert percentile_us(intended, 99) / 1000 == pytest.approx(490, abs=12)


def test_closed_loop_latency_hides_it(folder: Path) -> None:
    closed = _merged(folder, intended=False)
    assert percentile_us(closed, 99) / 1000 < 50
    assert closed.max_us / 1000 > 450  # the stall did occur


def test_the_merge_equals_that_of_the_histogram_library(folder: Path) -> None:
    total = HdrHistogram(1, 3_600_000_000, 3)
    ours = []
    for path in sorted(folder.glob("ycsb-*Intended-READ.hdr")):
        reader = HistogramLogReader(str(path), total)
        while reader.add_next_interval_histogram(dest_histogram=total):
            pass
        ours += [row.histogram() for row in parse_hdr(path.read_bytes(), path.name).rows]
    assert merge(ours).counts == tuple(
        (item.value_iterated_to, item.count_at_value_iterated_to)
        for item in total.get_recorded_iterator()
    )
