"""`Outcome`: what the queueing network says of a trial, before any output of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from statistics import NormalDist
from typing import Any, Protocol

from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.cluster.providers.simulated.service_times import service_times


@dataclass(frozen=True)
class Use:
    """Busy shares of cores, from 0 to 1: of the workers' hosts by the store, of the clients' hosts by
    clients. `disks`: busy share of each worker's drive. Rates in MiB/s are of all drives together."""

    servers: float = 0.0
    clients: float = 0.0
    disks: float = 0.0
    read_mib_s: float = 0.0
    written_mib_s: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """`rate`: in the unit of the workload's kind. `mean_s`: mean latency by operation, as YCSB names it;
    `intended_s`: the same from the time that a target rate demands. `at_once`: customers of the network.
    `think_s`: mean time of a closed loop between two operations."""

    rate: float
    at_once: int
    use: Use
    mean_s: Mapping[str, float] = field(default_factory=dict)
    intended_s: Mapping[str, float] = field(default_factory=dict)
    think_s: float = 0.0


class Model(Protocol):
    """How one workload becomes customers of the network."""

    def not_modelled(self, test_case: Any) -> str:
        """Why the test case cannot be rehearsed; empty if it can."""

    def outcome(
        self, rehearsal: Rehearsal, topology: Topology, test_case: Any, log_speed: float
    ) -> Outcome: ...


def percentile_s(mean_s: float, percent: float) -> float:
    """A percentile of log-normal latencies with this mean."""
    sigma: float = service_times()["spread"]["sigma"]
    return mean_s * exp(sigma * NormalDist().inv_cdf(percent / 100) - sigma**2 / 2)
