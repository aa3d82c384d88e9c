"""Full disks, looked for where a trial failed: Hadoop says "excluded in this operation" instead."""

from __future__ import annotations

from cluster.model.cluster import Cluster
from cluster.model.errors import StudyError
from cluster.providers.provider import Capacity, provider_of

FULL_MIB = 1024
"""Less is no room: HDFS reserves a whole block (128 MiB) for each file that is open, and the files of the
trial that failed may be gone already when the disk is looked at."""


def full_disks(cluster: Cluster) -> list[str]:
    """A sentence for each disk of the cluster's hosts that has less than `FULL_MIB` MiB left; none for
    guests' disks, which no host can tell, and none if a host no longer answers."""
    topology = cluster.topology
    try:
        provider = provider_of(topology.provider)
        free = provider.free_resources(topology) if isinstance(provider, Capacity) else {}
    except (StudyError, OSError):
        return []  # what is lost is told by what failed
    return [
        f"the disk of {path} on {host} is full, {free_mib} MiB left: free some, and run the same command"
        " again"
        for host, resources in free.items()
        for path, free_mib in resources.disks_mib.items()
        if free_mib < FULL_MIB
    ]
