"""TestDFSIO's maps on a simulated cluster: streams that want the next MiB as soon as they have one."""

from __future__ import annotations

from math import exp

from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.queueing import solve
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.cluster.providers.simulated.service_times import (
    DISK,
    SERVERS,
    network,
    service_times,
    streamed_mib,
)
from density_study.workloads.simulated.outcome import Outcome, Use
from density_study.workloads.testdfsio.hdfs_policies import maps_at_once
from density_study.workloads.testdfsio.modes import POSITIONED, WRITES
from density_study.workloads.testdfsio.test_case import DfsioTestCase

MIB = 2**20


class DfsioModel:
    """`rate`: MiB/s of all streams, without the start of the maps. `mean_s`: of one stream's MiB."""

    def not_modelled(self, test_case: DfsioTestCase) -> str:
        return ""

    def outcome(
        self, rehearsal: Rehearsal, topology: Topology, test_case: DfsioTestCase, log_speed: float
    ) -> Outcome:
        return outcome_of(rehearsal.as_if(topology, test_case.mode_name), test_case, exp(log_speed))


def outcome_of(topology: Topology, test_case: DfsioTestCase, speed: float) -> Outcome:
    write = test_case.mode in WRITES
    demands = streamed_mib(
        topology, test_case.read_size_bytes / MIB, seeks=test_case.mode in POSITIONED, write=write
    )
    at_once = maps_of(topology, test_case)
    net = network(topology, demands, speed)
    found = solve(net.stations, at_once)
    moved = found.rate * (test_case.copies(topology.replication) if write else 1.0)
    use = Use(
        servers=net.busy(found.rate, SERVERS),
        disks=net.busy(found.rate, DISK),
        read_mib_s=0.0 if write else moved,
        written_mib_s=moved if write else 0.0,
    )
    return Outcome(found.rate, at_once, use, {"MIB": at_once / found.rate})


def maps_of(topology: Topology, test_case: DfsioTestCase) -> int:
    """Maps that run at once."""
    return max(
        1, min(test_case.files, test_case.readers or test_case.files, maps_at_once(topology))
    )


def seconds_of(test_case: DfsioTestCase, outcome: Outcome) -> tuple[float, float]:
    """(time of one map, start included; time of only its stream)."""
    start_s: float = service_times()["streams"]["map_start_s"]
    stream_s = test_case.bytes_per_file / MIB / (outcome.rate / outcome.at_once)
    return start_s + stream_s, stream_s
