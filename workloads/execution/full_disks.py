"""Detects full disks after a failed trial: Hadoop's own message is only "excluded in this operation"."""

from __future__ import annotations

from cluster.model.cluster import Cluster
from cluster.model.errors import StudyError
from cluster.providers.provider import Capacity, provider_of

FULL_MIB = 1024
"""A disk with less free space counts as full: HDFS reserves a whole block (128 MiB) per open file, and the
failed trial's files may already be deleted when this check runs."""


def full_disks(cluster: Cluster) -> list[str]:
    """A sentence for each disk of the cluster's hosts with less than `FULL_MIB` MiB free. Hosts cannot see
    into guests' disks; a host that does not respond yields nothing."""
    topology = cluster.topology
    try:
        provider = provider_of(topology.provider)
        free = provider.free_resources(topology) if isinstance(provider, Capacity) else {}
    except (StudyError, OSError):
        return []  # the trial's own fault already reports the lost host
    return [
        f"the disk of {path} on {host} is full ({free_mib} MiB free): free some space, and run the same"
        " command again"
        for host, resources in free.items()
        for path, free_mib in resources.disks_mib.items()
        if free_mib < FULL_MIB
    ]
