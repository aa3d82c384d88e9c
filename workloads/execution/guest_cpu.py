"""What guests had of their hosts' CPU during a window: read before it and after it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from cluster.model.cluster import Cluster
from cluster.providers.provider import Guests, VcpuTime, provider_of
from workloads.base.values import GuestCpu


@dataclass(frozen=True)
class GuestReading:
    """Each node's guest so far, and when that was read. Without guests nothing."""

    epoch_s: float
    times: Mapping[str, VcpuTime]


def read_guests(cluster: Cluster) -> GuestReading:
    """StudyError if a host does not tell."""
    provider = provider_of(cluster.topology.provider)
    if not isinstance(provider, Guests):
        return GuestReading(time.time(), {})
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
        )
        for node in cluster.topology.nodes
        if node.name in before.times
    )
