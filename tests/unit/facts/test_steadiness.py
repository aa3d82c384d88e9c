"""Mean and deviation of a trial's rates, also of those that large clusters have."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest

from density_study.jobs.facts.rate_series import Series, steadiness


@pytest.mark.parametrize("seconds", [600, 200_000])
@pytest.mark.parametrize("ops_s", [5_000.0, 300_000.0, 4e6])
def test_mean_and_deviation_are_those_of_the_seconds(ops_s: float, seconds: int) -> None:
    """Sums of squares of a million operations per second do not fit 64 bits of fixed point."""
    second = np.arange(seconds)
    rate = ops_s * (1 + 0.2 * np.sin(second))
    window = {"window_start_epoch_s": 0.0, "window_end_epoch_s": float(seconds)}
    trial = {"warm_up_s": 0.0, **window}
    found = steadiness(trial, Series("throughput", "ops/s", second, rate))
    assert found is not None
    inner = rate[1:-1].tolist()
    assert found["mean"] == pytest.approx(statistics.fmean(inner))
    assert found["standard_deviation"] == pytest.approx(np.std(inner, ddof=1))


def test_means_of_ten_seconds_are_no_variation_by_second() -> None:
    """YCSB writes its status and logs every ten seconds, if it is not set otherwise."""
    rate = np.repeat([900.0, 1100.0, 1000.0], 10)
    trial = {"warm_up_s": 0.0, "window_start_epoch_s": 0.0, "window_end_epoch_s": 30.0}
    series = Series("operations", "ops/s", np.arange(30), rate, 10.0)
    assert steadiness(trial, series) is None
    assert steadiness(trial, replace(series, interval_s=1.02)) is not None
