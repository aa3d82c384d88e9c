"""YCSB's clients on a simulated cluster: threads in a closed loop, or held to a rate."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.queueing import Solution, at_rate, solve
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.cluster.providers.simulated.service_times import (
    CLIENT,
    DISK,
    SERVERS,
    Demands,
    Network,
    Service,
    network,
    operation,
    service_times,
)
from density_study.workloads.simulated.outcome import Outcome, Use
from density_study.workloads.ycsb.output.measurement import READ_MODIFY_WRITE
from density_study.workloads.ycsb.test_case import YcsbTestCase

NAMES = {"read": "READ", "update": "UPDATE", "insert": "INSERT", "scan": "SCAN",
         "readmodifywrite": READ_MODIFY_WRITE}  # fmt: skip
_PARTS = ("read", "update")
"""The parts of a read-modify-write, which YCSB logs too."""
_BETWEEN = 0.1
"""Share of a client's core time that it spends between two operations."""
_BESIDE, _BESIDE_DIVIDED = 1.0, 0.3
"""Assumed: how much of a neighbour's busy threads a victim meets on its host's cores; where guests or
containers divide them."""


class YcsbModel:
    def not_modelled(self, test_case: YcsbTestCase) -> str:
        what = "a fault" if test_case.fault else "a rate that changes" if test_case.phase else ""
        return what and f"{what} cannot be rehearsed: the model knows only steady load."

    def outcome(
        self, rehearsal: Rehearsal, topology: Topology, test_case: YcsbTestCase, log_speed: float
    ) -> Outcome:
        alike = rehearsal.as_if(topology, test_case.mode_name)
        return outcome_of(alike, test_case, exp(log_speed), rehearsal.effects.service)


def outcome_of(
    topology: Topology, test_case: YcsbTestCase, speed: float, service: Service
) -> Outcome:
    kinds = _demands(topology, test_case, service)
    shares = {kind: test_case.mix_facts.shares[kind] for kind in kinds}
    mean = Demands({})
    for kind, share in shares.items():
        mean = mean + kinds[kind] * share
    if test_case.neighbour_threads:
        mean, kinds = _beside(topology, test_case.neighbour_threads, mean, kinds)
    net = network(topology, mean, speed)
    target = test_case.target_ops_s if test_case.is_paced or test_case.search else None
    found = (
        solve(net.stations, test_case.threads)
        if target is None
        else at_rate(net.stations, test_case.threads, target)
    )
    latencies, think_s = _latencies(net, found, kinds)
    return Outcome(
        rate=found.rate,
        at_once=test_case.threads,
        use=_use(net, found, test_case, shares, topology),
        mean_s=latencies,
        intended_s={} if target is None else _intended(latencies, found.rate, target, test_case),
        think_s=think_s,
    )


def logged_shares(test_case: YcsbTestCase) -> dict[str, float]:
    """How many entries of each name an operation leaves in the logs, on average."""
    found: dict[str, float] = {}
    for kind, share in test_case.mix_facts.shares.items():
        for each in (kind, *(_PARTS if kind == "readmodifywrite" else ())):
            if share:
                found[NAMES[each]] = found.get(NAMES[each], 0.0) + share
    return found


def _demands(topology: Topology, test_case: YcsbTestCase, service: Service) -> dict[str, Demands]:
    rows = (test_case.min_scan_length + test_case.max_scan_length) / 2
    if test_case.variants is not None:
        rows = float(test_case.variants.region_sites * test_case.variants.samples)
    row_mib = test_case.data_mib / test_case.records
    return {
        kind: operation(
            kind, topology, row_mib, rows if kind == "scan" else 1.0, test_case.data_mib, service
        )
        for kind, share in test_case.mix_facts.shares.items()
        if share
    }


def _beside(
    topology: Topology, threads: int, mean: Demands, kinds: dict[str, Demands]
) -> tuple[Demands, dict[str, Demands]]:
    """Demands of the servers beside a neighbour that keeps cores of their host busy."""
    workers = {node.host for node in topology.workers}
    cores = min(host.cores for host in topology.hosts if host.name in workers)
    met = _BESIDE_DIVIDED if topology.isolation.facts.own_address else _BESIDE
    slower = 1 + met * threads / cores
    more = [
        Demands({n: s * (slower if n == SERVERS else 1.0) for n, s in one.seconds.items()})
        for one in (mean, *kinds.values())
    ]
    return more[0], dict(zip(kinds, more[1:], strict=True))


def _latencies(
    net: Network, found: Solution, kinds: Mapping[str, Demands]
) -> tuple[dict[str, float], float]:
    """Mean latency by operation, and mean time between two of them."""
    latencies: dict[str, float] = {}
    for kind, demands in kinds.items():
        parts = net.residence_s(found, demands)
        latencies[NAMES[kind]] = sum(parts.values()) - _BETWEEN * parts[CLIENT]
    if READ_MODIFY_WRITE in latencies:  # a read, then an update
        read_s = latencies.setdefault("READ", latencies[READ_MODIFY_WRITE] / 2)
        latencies.setdefault("UPDATE", latencies[READ_MODIFY_WRITE] - read_s)
    think_s = _BETWEEN * net.residence_s(found, net.demands)[CLIENT]
    return latencies, think_s


def _intended(
    latencies: Mapping[str, float], rate: float, target: float, test_case: YcsbTestCase
) -> dict[str, float]:
    """Latencies with what operations wait if the rate is below the target. They wait longer and longer: on
    average half of what is missing at the end."""
    lasting_s = test_case.duration_s or 0.0
    behind_s = max(0.0, 1 - rate / target) * lasting_s / 2
    return {name: mean_s + behind_s for name, mean_s in latencies.items()}


def _use(
    net: Network,
    found: Solution,
    test_case: YcsbTestCase,
    shares: Mapping[str, float],
    topology: Topology,
) -> Use:
    row_mib = test_case.data_mib / test_case.records
    written = shares.get("insert", 0.0) + shares.get("update", 0.0)
    disk = service_times()["disks"][topology.variant.disk_type]
    busy = net.busy(found.rate, DISK)
    write_mib_s = found.rate * written * 2 * row_mib * topology.replication
    reading = max(0.0, busy * net.cores[DISK] - write_mib_s / disk["mib_s"])
    return Use(
        servers=net.busy(found.rate, SERVERS),
        clients=net.busy(found.rate, CLIENT),
        disks=busy,
        read_mib_s=reading / (disk["random_read_ms"] / 1e3) * 64 / 1024,  # blocks of 64 KiB
        written_mib_s=write_mib_s,
    )
