"""What the hosts show around a trial: the CPU time that they gave their guests, and full disks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.provider import NodeTime, provider_of
from density_study.workloads.base.values import GuestCpu

FULL_MIB = 1024
"""A disk with less free space counts as full: HDFS reserves a whole block (128 MiB) per open file, and the
failed trial's files may already be deleted when this check runs."""


@dataclass(frozen=True)
class GuestReading:
    """Cumulative CPU time of each node's guest, and the time of the reading. Empty without guests."""

    epoch_s: float
    times: Mapping[str, NodeTime]


def read_guests(cluster: Cluster) -> GuestReading:
    """StudyError if a host does not report it."""
    provider = provider_of(cluster.topology)
    return GuestReading(time.time(), provider.guest_times(cluster.site, cluster.topology))


def between(cluster: Cluster, before: GuestReading, after: GuestReading) -> tuple[GuestCpu, ...]:
    return tuple(
        GuestCpu(
            node=node.name,
            host=node.host,
            cpu_s=after.times[node.name].cpu_s - before.times[node.name].cpu_s,
            waited_s=after.times[node.name].waited_s - before.times[node.name].waited_s,
            from_epoch_s=before.epoch_s,
            to_epoch_s=after.epoch_s,
            out_of_memory=_more(
                before.times[node.name].out_of_memory, after.times[node.name].out_of_memory
            ),
        )
        for node in cluster.topology.nodes
        if node.name in before.times
    )


def _more(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def killed_in(guests: Iterable[GuestCpu]) -> list[str]:
    """A sentence for each container of which the kernel killed processes during the trial."""
    return [
        f"the kernel killed {guest.out_of_memory} process(es) of container {guest.node} during the trial, as "
        "its memory was used up"
        for guest in guests
        if guest.out_of_memory
    ]


def full_disks(cluster: Cluster) -> list[str]:
    """A sentence for each disk of the cluster's hosts with less than `FULL_MIB` MiB free.

    Hadoop's own message is only "excluded in this operation". Hosts cannot see into guests' disks; a host
    that does not respond yields nothing.
    """
    topology = cluster.topology
    try:
        free = provider_of(topology).free_resources(topology)
    except (StudyError, OSError):
        return []  # the trial's own fault already reports the lost host
    return [
        f"the disk of {path} on {host} is full ({free_mib} MiB free): free some space, and run the same"
        " command again"
        for host, resources in free.items()
        for path, free_mib in resources.disks_mib.items()
        if free_mib < FULL_MIB
    ]
