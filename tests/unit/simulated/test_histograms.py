"""Interval logs of the model, by the project's reader and by HdrHistogram's own."""

from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from density_study.workloads.simulated.histograms import Interval, interval_log, shape
from density_study.workloads.ycsb.output.interval_log import parse_hdr

SIGMA = 0.43
BEGUN_S = 1_795_200_000.5


@pytest.mark.parametrize("mean_s", [1e-6, 0.00092, 0.4, 1000.0])
@pytest.mark.parametrize("operations", [0, 1, 399, 1_000_000])
def test_logs_hold_as_many_operations_of_that_mean(mean_s: float, operations: int) -> None:
    rows = [Interval(0.0, 30.0, operations, mean_s), Interval(30.0, 30.0, 7, mean_s)]
    parsed = parse_hdr(interval_log("READ", BEGUN_S, rows, SIGMA), "ycsb-1-READ.hdr")
    assert not parsed.quarantined
    assert [row.operations for row in parsed.rows] == [operations, 7]
    assert [row.start_epoch_s for row in parsed.rows] == [BEGUN_S, BEGUN_S + 30]
    if operations > 1000 and mean_s > 1e-5:
        counts = dict(parsed.rows[0].histogram().counts)
        mean_us = sum(value * count for value, count in counts.items()) / operations
        assert mean_us == pytest.approx(mean_s * 1e6, rel=0.01)
        oracle = HdrHistogram.decode(parsed.rows[0].payload)
        assert oracle.get_total_count() == operations
        assert oracle.get_max_value() == max(counts)


def test_the_shape_is_a_log_normal_of_mean_one() -> None:
    found = shape(SIGMA)
    assert found.mean() == pytest.approx(1.0)
    assert np.std(np.log(found)) == pytest.approx(SIGMA, rel=0.01)
    assert found[-1] / np.median(found) > 3
