"""Service times of a simulated cluster: stations of the queueing network for one kind of request."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.queueing import Solution, Station

CLIENT, SERVERS, SERIAL, DISK, NETWORK, WAIT = "client", "cpu", "serial", "disk", "network", "wait"
Service = Mapping[str, Mapping[str, float]]
"""Operation -> cpu_ms, client_ms, wait_ms or serial_ms."""
MBIT_PER_MIB = 8 * 1.048576


@cache
def service_times() -> Mapping[str, Any]:
    """The shipped data: `service_times.toml`."""
    return tomllib.loads((files(__package__) / "service_times.toml").read_text())


@dataclass(frozen=True)
class Demands:
    """Seconds of service that one request needs, by station."""

    seconds: Mapping[str, float]

    def __add__(self, other: Demands) -> Demands:
        names = {**self.seconds, **other.seconds}
        return Demands({n: self.seconds.get(n, 0.0) + other.seconds.get(n, 0.0) for n in names})

    def __mul__(self, by: float) -> Demands:
        return Demands({name: by * seconds for name, seconds in self.seconds.items()})


def operation(
    kind: str,
    topology: Topology,
    row_mib: float,
    rows: float,
    data_mib: float,
    service: Service = MappingProxyType({}),
) -> Demands:
    """One operation on rows of this size: read, insert, update, scan (of `rows` rows on average), or
    readmodifywrite. `data_mib`: the table without its replicas. `service`: times instead of the shipped."""
    if kind == "readmodifywrite":
        parts = (
            operation(part, topology, row_mib, 1, data_mib, service) for part in ("read", "update")
        )
        first, later = parts
        return first + later
    shipped = service_times()["operations"]
    times = {**shipped["server"], **shipped[kind], **service.get(kind, {})}
    moved_mib = row_mib * rows * (topology.replication if kind in ("insert", "update") else 1)
    longer = rows / 50 if kind == "scan" else 1.0  # recorded with 1 to 100 rows
    return Demands(
        {
            CLIENT: times["client_ms"] * longer / 1e3,
            SERVERS: times["cpu_ms"] * longer / 1e3,
            SERIAL: times["serial_ms"] / 1e3,
            DISK: _disk_s(kind, topology, moved_mib, data_mib),
            NETWORK: moved_mib / _network_mib_s(topology),
            WAIT: times["wait_ms"] / 1e3,
        }
    )


def streamed_mib(topology: Topology, read_mib: float, seeks: bool, write: bool) -> Demands:
    """One MiB of a stream that reads or writes `read_mib` at once, with a seek before each if it `seeks`."""
    data = service_times()
    disk = data["disks"][topology.variant.disk_type]
    copies = topology.replication if write else 1
    between_mib = read_mib if seeks else max(read_mib, 8.0)  # read ahead, and written behind
    seek_s = disk["random_read_ms"] / 1e3 / between_mib
    return Demands(
        {
            SERVERS: data["streams"]["cpu_ms_per_mib"] / 1e3 * (1 + 0.3 * (copies - 1)),
            DISK: copies * (seek_s + 1 / disk["mib_s"]),
            NETWORK: (copies - 1) / _network_mib_s(topology),
        }
    )


@dataclass(frozen=True)
class Network:
    """`stations` for requests with `demands`, `speed` times as fast. `at`: the station of each demand."""

    stations: tuple[Station, ...]
    at: Mapping[str, str]
    demands: Demands
    speed: float
    cores: Mapping[str, int]
    """Cores of all hosts that clients, or servers, run on."""

    def residence_s(self, solution: Solution, of: Demands) -> dict[str, float]:
        """Time of one kind of request for each of its demands: a station stretches all kinds alike."""
        own = {station.name: station.demand_s for station in self.stations}
        return {
            name: seconds / self.speed * solution.residence_s[self.at[name]] / own[self.at[name]]
            for name, seconds in of.seconds.items()
            if seconds
        }

    def busy(self, rate: float, what: str) -> float:
        """Share of the cores (CLIENT, SERVERS) or drives (DISK) that `rate` keeps busy, by the utilization
        law."""
        return rate * self.demands.seconds.get(what, 0.0) / self.speed / self.cores[what]


def network(topology: Topology, demands: Demands, speed: float) -> Network:
    """Stations of the topology. Clients on hosts of workers use the workers' cores."""
    hosts = {host.name: host.cores for host in topology.hosts}
    workers = {node.host for node in topology.workers}
    clients = {node.host for node in topology.clients}
    drives = {(node.host, disk.path) for node in topology.workers for disk in node.disks}
    servers = sum(node.regionservers for node in topology.workers) or len(topology.workers)
    shared = clients <= workers
    at = {name: name for name in demands.seconds} | ({CLIENT: SERVERS} if shared else {})
    sums: dict[str, float] = {}
    for name, seconds in demands.seconds.items():
        sums[at[name]] = sums.get(at[name], 0.0) + seconds / speed
    shapes: dict[str, tuple[int, int | None]] = {
        CLIENT: (len(clients), min(hosts[name] for name in clients)),
        SERVERS: (len(workers), min(hosts[name] for name in workers)),
        SERIAL: (servers, 1),
        DISK: (max(len(drives), 1), 1),
        NETWORK: (len(workers), 1),
        WAIT: (1, None),
    }
    cores = {
        CLIENT: sum(hosts[name] for name in clients),
        SERVERS: sum(hosts[name] for name in workers),
        DISK: max(len(drives), 1),
    }
    stations = (Station(name, one, *shapes[name]) for name, one in sums.items() if one > 0)
    return Network(tuple(stations), at, demands, speed, cores)


def _disk_s(kind: str, topology: Topology, moved_mib: float, data_mib: float) -> float:
    """Seconds of a drive: a miss of the caches is a random read; what is written is written twice, to the log
    and to store files, one after another."""
    memory, disk = service_times()["memory"], service_times()["disks"][topology.variant.disk_type]
    if kind in ("insert", "update"):
        return float(2 * moved_mib / disk["mib_s"])
    cached_mib = memory["cached_share"] * sum(node.memory_mib for node in topology.workers)
    missed = max(0.0, 1 - cached_mib / data_mib) * memory["misses_of_uniform"] if data_mib else 0.0
    return float(missed * disk["random_read_ms"] / 1e3)


def _network_mib_s(topology: Topology) -> float:
    rate = topology.variant.network.rate_mbit_s
    found: float = rate / MBIT_PER_MIB if rate else service_times()["network"]["mib_s"]
    return found
