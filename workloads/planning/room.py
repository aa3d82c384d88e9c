"""How much each folder of a host has to hold, by what is written there."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from pathlib import Path

from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import Topology

LOGS_MIB = 512
"""MiB for the logs of the daemons of one build, which are copied to the run's folder."""
RECORD_MIB = 4
"""MiB of a trial's record. Measured: 2 to 3 MiB for ten minutes on 16 machines."""
WORK_MIB = 2048
"""What a host's work folder takes beside data: the stacks (0.6 GiB), and the daemons' logs."""
IMBALANCE = 1.3
"""DataNodes choose among hosts at random and take their drives in turn: the fullest drive holds at most this
much more than its part."""


@dataclass(frozen=True)
class Written:
    """What a study writes at most, in MiB.

    data_mib: of one build, on all drives of the cluster together, with replicas. each_mib: on every drive,
    however little is written. runs_mib: into the folder `runs`, on this machine.
    """

    data_mib: int
    each_mib: int
    runs_mib: int
    runs: Path

    def on_mib(self, folder: str, host: Host, topology: Topology) -> int:
        """MiB of it in the folder, which is a drive of the host or another folder."""
        here_mib = self.runs_mib if folder == str(self.runs) else 0
        drives = _drives_of(host, topology)
        if folder not in drives:
            unused = folder in {disk.path for disk in host.disks}
            return here_mib or (0 if unused else WORK_MIB)
        # a host's part does not depend on how many drives it has
        places = len({node.host for node in topology.workers}) * len(drives)
        share = 1.0 if places == 1 else min(1.0, IMBALANCE / places)
        return here_mib + ceil(self.data_mib * share) + self.each_mib

    def taken_mib(self, folder: str, host: Host, topology: Topology) -> int:
        """MiB that the folder loses: guests' disks that are allocated as a whole take all of theirs."""
        need_mib = self.on_mib(folder, host, topology)
        if host.vms is None or not host.vms.preallocated or not topology.variant.vms_per_host:
            return need_mib
        is_used = folder in _drives_of(host, topology) or folder == host.disks[0].path
        return max(need_mib, host.vms.data_gib * 1024) if is_used else need_mib


def _drives_of(host: Host, topology: Topology) -> set[str]:
    """Where the workers of the host keep their data."""
    return {disk.path for node in topology.workers if node.host == host.name for disk in node.disks}
