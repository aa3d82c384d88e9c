"""The closed network against results that are known in another way."""

from __future__ import annotations

from math import comb, factorial

import pytest

from density_study.cluster.providers.simulated.queueing import Station, at_rate, solve


def repairmen(service_s: float, think_s: float, servers: int, customers: int) -> float:
    """Rate of M/M/c//N by its balance equations."""
    weights = []
    for n in range(customers + 1):
        ways = comb(customers, n) * factorial(n)
        at_once = factorial(min(n, servers)) * servers ** max(0, n - servers)
        weights.append(ways / at_once * (service_s / think_s) ** n)
    busy = sum(min(n, servers) * w for n, w in enumerate(weights)) / sum(weights)
    return busy / service_s


@pytest.mark.parametrize(("servers", "customers"), [(1, 1), (1, 8), (2, 8), (8, 96), (64, 40)])
def test_cores_and_a_pause_are_machine_repairmen(servers: int, customers: int) -> None:
    network = (Station("cpu", 0.002, 1, servers), Station("think", 0.01, servers=None))
    expected = repairmen(0.002, 0.01, servers, customers)
    assert solve(network, customers).rate == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("alike", "customers"), [(1, 5), (3, 1), (3, 72), (40, 96)])
def test_equal_stations_are_a_balanced_network(alike: int, customers: int) -> None:
    """Each request visits one of them: X = N / (D (N + K - 1)) with the demand D at each."""
    each_s = 0.004 / alike
    found = solve((Station("disk", 0.004, alike),), customers)
    assert found.rate == pytest.approx(customers / (each_s * (customers + alike - 1)), rel=1e-9)


def test_littles_law_holds_at_every_station() -> None:
    stations = (
        Station("cpu", 0.0003, 3, 8),
        Station("disk", 0.0005, 12),
        Station("wait", 0.001, servers=None),
    )
    for customers in (1, 24, 700):
        found = solve(stations, customers)
        assert sum(found.residence_s.values()) == pytest.approx(customers / found.rate, rel=1e-9)
        assert found.rate * 0.0005 / 12 <= 1  # by the utilization law


def test_twice_the_speed_is_twice_the_rate() -> None:
    def network(speed: float) -> tuple[Station, ...]:
        return Station("cpu", 0.001 / speed, 2, 4), Station("wait", 0.002 / speed, servers=None)

    slow, fast = solve(network(1), 24), solve(network(2), 24)
    assert fast.rate == pytest.approx(2 * slow.rate)


def test_customers_hold_a_rate_that_the_network_can_carry() -> None:
    network = (Station("cpu", 0.001, 1, 2),)
    held = at_rate(network, 16, 1000.0)
    assert held.rate == pytest.approx(1000.0, rel=1e-6)
    assert held.residence_s["cpu"] < solve(network, 16).residence_s["cpu"]
    assert at_rate(network, 16, 5000.0).rate == pytest.approx(2000.0, rel=1e-3)


def test_nothing_to_do_is_no_network() -> None:
    with pytest.raises(ValueError, match="a station with a demand"):
        solve((), 4)
