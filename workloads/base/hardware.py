"""`Hardware`: what bounds the rate at which the workers of a topology take and give data. Pure.

The constants are round figures of common hardware, low on purpose: an estimate that is too long costs
nothing. `study plan` replaces what follows from them by the times of earlier runs on the same hosts.
"""

from __future__ import annotations

from dataclasses import dataclass

from density_study.cluster.model.host import DiskType
from density_study.cluster.model.topology import AnyTopology

DRIVE_MIB_S: dict[DiskType, float] = {"flash": 400.0, "hdd": 100.0}
"""For several sequential streams: SATA's 6 Gbit/s less what a drive loses when it is written for hours; half
of what a disk of 7,200 revolutions per minute gives to one stream."""
NETWORK_MIB_S = 1100.0
"""For a host, in each direction: 10 Gbit/s less headers. Faster cards are not known before a run."""


@dataclass(frozen=True)
class Hardware:
    """What all workers of a cluster have together. `servers`: servers of the store. `drives_mib_s`:
    sequential rate of all drives in one direction; `slowest_mib_s`: rate of the slowest drive."""

    hosts: int
    cores: int
    servers: int
    drives_mib_s: float
    slowest_mib_s: float
    replication: int

    @property
    def written_mib_s(self) -> float:
        """Most MiB/s that clients on the workers write, each replica to drives and all but the first through
        the network."""
        sent = min(self.replication, self.hosts) - 1
        network_mib_s = self.hosts * NETWORK_MIB_S / sent if sent else float("inf")
        return min(self.drives_mib_s / self.replication, network_mib_s)

    @property
    def read_mib_s(self) -> float:
        """Most MiB/s that clients on the workers read, from a replica on any of the hosts."""
        remote = max(0.0, 1 - self.replication / self.hosts)
        network_mib_s = self.hosts * NETWORK_MIB_S / remote if remote else float("inf")
        return min(self.drives_mib_s, network_mib_s)


def hardware_of(topology: AnyTopology) -> Hardware | None:
    """None: nobody knows the hardware of an existing cluster."""
    if topology.existing is not None:
        return None
    workers = topology.workers
    used = {node.host for node in workers}
    cores = sum(host.cores for host in topology.hosts if host.name in used)
    servers = sum(max(1, node.regionservers) for node in workers)
    drives = _drives_mib_s(topology).values()
    slowest_mib_s = min(drives, default=0.0)
    return Hardware(len(used), cores, servers, sum(drives), slowest_mib_s, topology.replication)


def _drives_mib_s(topology: AnyTopology) -> dict[tuple[str, str], float]:
    """For each drive, by host and path; one with limits for its guests gives no more than these together."""
    limited: dict[tuple[str, str], float] = {}
    most: dict[tuple[str, str], float] = {}
    for node in topology.workers:
        for disk in node.disks:
            drive = node.host, disk.path
            limits = disk.limits
            own = [
                one for one in (limits and limits.read_mib_s, limits and limits.write_mib_s) if one
            ]
            limited[drive] = limited.get(drive, 0.0) + min(own, default=float("inf"))
            most[drive] = DRIVE_MIB_S[disk.disk_type]
    return {drive: min(most[drive], limited[drive]) for drive in most}
