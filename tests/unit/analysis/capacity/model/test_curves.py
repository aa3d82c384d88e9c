"""Scaling, density, utilization and latency laws: exact on exact data."""

from __future__ import annotations

import numpy as np
import pytest

from density_study.analysis.capacity.curves import density, scaling
from density_study.analysis.capacity.curves.under_load import (
    fit_latency,
    fit_latency_of_cpu,
    fit_utilization,
    log_misses,
)

HOSTS = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def test_scaling_recovers_the_truth_and_drops_c_under_five_counts() -> None:
    times = 5 + 300 / HOSTS + 0.4 * HOSTS
    assert scaling.fit(HOSTS, times) == pytest.approx([5, 300, 0.4], rel=1e-4)
    assert scaling.fit(HOSTS[:4], times[:4])[2] == 0.0


def test_one_outlying_count_does_not_bend_the_curve() -> None:
    hosts = np.array([1.0, 2, 3, 4, 6, 8, 12, 16])
    times = 5 + 300 / hosts
    spoiled = times.copy()
    spoiled[4] *= 2
    fitted = scaling.fit(hosts, spoiled)
    assert scaling.predict(fitted, hosts) == pytest.approx(times, rel=0.06)


def test_density_law_is_recovered_even_if_superlinear_and_beta_needs_four() -> None:
    v = np.array([1.0, 2, 3, 4, 6])
    for alpha, beta in ((0.2, 0.01), (-0.05, 0.0)):
        times = (1 + alpha * (v - 1) + beta * v * (v - 1)) / (500 * v)
        g, a, b = density.law(density.fit(v, times))
        assert (g, a, b) == pytest.approx((500, alpha, beta), rel=1e-3, abs=1e-6)
    few = v[:3]
    assert density.fit(few, (1 + 0.2 * (few - 1) + 0.01 * few * (few - 1)) / few)[2] == 0.0


def test_the_utilization_law_needs_two_loads() -> None:
    law = fit_utilization([100, 200, 400], [15.0, 25.0, 45.0])
    assert law is not None
    assert (law.idle_percent, law.percent_per_rate) == pytest.approx((5.0, 0.1))
    assert fit_utilization([100, 100], [15.0, 16.0]) is None


def test_latency_rises_with_load_and_is_unknown_beyond_it() -> None:
    rho = [0.2, 0.4, 0.6, 0.8, 0.9]
    times = [0.01 * (1 + 0.8 * r ** (np.sqrt(10) - 1) / (4 * (1 - r))) for r in rho]
    curve = fit_latency(rho, times)
    assert curve is not None
    assert curve.servers == 4.0
    assert curve.at(np.array([0.5]))[0] == pytest.approx(
        0.01 * (1 + 0.8 * 0.5 ** (np.sqrt(10) - 1) / 2), rel=0.01
    )
    assert np.isnan(curve.at(np.array([0.95]))[0])
    assert fit_latency([0.2, 0.4], [1.0, 2.0]) is None


LOADS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SLOWER = (0.0, 0.06, -0.04, 0.08, 0.0, 0.05)
"""CPU use of others on a shared machine, at each load."""


def test_a_cpu_curve_gives_latency_by_load_too() -> None:
    busy = [0.2 + 0.7 * load + more for load, more in zip(LOADS, SLOWER, strict=True)]
    times = [0.001 * (1 + 0.5 * b ** (np.sqrt(10) - 1) / (4 * (1 - b))) for b in busy]
    curve = fit_latency_of_cpu(LOADS, times, busy)
    assert curve is not None and curve.of_cpu
    assert log_misses(curve, LOADS, times, busy) == pytest.approx(np.zeros(6), abs=1e-6)
    used = curve.idle + curve.busy_per_rho * 0.5
    assert used == pytest.approx(0.2 + 0.7 * 0.5, abs=0.05)
    assert curve.at(np.array([0.5]))[0] == pytest.approx(curve.at_busy(np.array([used]))[0])
    assert np.isnan(curve.at(np.array([0.81]))[0])
    assert np.isnan(curve.at_busy(np.array([max(busy) + 0.01]))[0])
    assert curve.spread > 0.02  # at a load: the planner does not know other CPU use of the machine


def test_a_load_curve_gives_no_latency_by_cpu() -> None:
    curve = fit_latency([0.2, 0.4, 0.6], [1.0, 1.2, 2.0])
    assert curve is not None
    assert np.isnan(curve.at_busy(np.array([0.3]))[0])
