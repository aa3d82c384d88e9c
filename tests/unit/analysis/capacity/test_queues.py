"""Waiting times: the approximation against Erlang-C, the stage graph against the simulator ciw."""

from __future__ import annotations

import ciw
import numpy as np
import pytest

from density_study.analysis.capacity.curves.under_load import stretch
from density_study.analysis.capacity.sizing.stage_graph import Service, turnarounds_s


def simulated(
    arrival_per_s: float, services: list[object], servers: list[int], until_s: float, seed: int
) -> np.ndarray:
    """Times in a tandem of queues, for customers after a warm-up."""
    ciw.seed(seed)
    count = len(servers)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(arrival_per_s), *[None] * (count - 1)],
        service_distributions=services,
        routing=[[1.0 if j == i + 1 else 0.0 for j in range(count)] for i in range(count)],
        number_of_servers=servers,
    )
    run = ciw.Simulation(network)
    run.simulate_until_max_time(until_s)
    enter: dict[int, float] = {}
    leave: dict[int, float] = {}
    for record in run.get_all_records():
        enter[record.id_number] = min(enter.get(record.id_number, np.inf), record.arrival_date)
        if record.node == count:
            leave[record.id_number] = record.exit_date
    times = [
        leave[customer] - enter[customer] for customer in leave if enter[customer] > 0.1 * until_s
    ]
    return np.array(times)


def poisson(per_s: float, count: int, seed: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).exponential(1.0 / per_s, count))


def erlang_c(servers: int, rho: float) -> float:
    """Mean time in an M/M/c system, divided by the service time."""
    offered, blocking = servers * rho, 1.0
    for count in range(1, servers + 1):
        blocking = offered * blocking / (count + offered * blocking)
    waits = blocking / (1 - rho * (1 - blocking))
    return 1 + waits / (servers * (1 - rho))


def test_the_oracle_for_one_server_equals_the_closed_form() -> None:
    assert erlang_c(1, 0.8) == pytest.approx(1 / 0.2)


@pytest.mark.parametrize("servers", [1, 2, 4, 8, 16, 64])
def test_the_approximation_is_within_5_percent_of_erlang_c(servers: int) -> None:
    rhos = np.arange(0.05, 0.96, 0.05)
    assert 1 + stretch(rhos, servers) == pytest.approx(
        np.array([erlang_c(servers, float(rho)) for rho in rhos]), rel=0.05
    )


@pytest.mark.slow
def test_a_stage_of_the_pool_is_a_queue_with_one_server_per_slot() -> None:
    """M/D/4 at rho 0.85, then a lane M/D/1: mean and p95 within 3 % of the oracle."""
    stages = [Service("pool", (), 4.0, share=0.25), Service("lane", ("pool",), 0.9, lane=True)]
    ours = np.concatenate([turnarounds_s(stages, poisson(0.85, 12_000, seed)) for seed in range(3)])
    services = [ciw.dists.Deterministic(4.0), ciw.dists.Deterministic(0.9)]
    oracle = np.concatenate([simulated(0.85, services, [4, 1], 14_000, seed) for seed in range(3)])
    assert ours.mean() == pytest.approx(oracle.mean(), rel=0.03)
    assert np.percentile(ours, 95) == pytest.approx(np.percentile(oracle, 95), rel=0.04)


def test_an_idle_cluster_takes_exactly_the_critical_path() -> None:
    stages = [
        Service("a", (), 3.0, share=0.1),
        Service("b", ("a",), 5.0, share=0.1),
        Service("c", ("a",), 2.0, share=0.1),
        Service("d", ("b", "c"), 1.0, lane=True),
    ]
    times = turnarounds_s(stages, poisson(1e-6, 50, 1))
    assert times == pytest.approx(np.full(40, 9.0))


def test_a_stage_larger_than_the_pool_runs_in_waves() -> None:
    times = turnarounds_s([Service("a", (), 3.0, share=2.5)], poisson(1e-6, 10, 1))
    assert times == pytest.approx(np.full(8, 7.5))
