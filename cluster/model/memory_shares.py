"""Shares of a host's memory: its own reserve, the master, the client, workers, and their YARN containers.

Every arm divides the same memory. Pure functions, in MiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, lcm

from density_study.cluster.model.arm import Arm
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import (
    CONTAINER_MIB,
    GUEST_OS_MIB,
    client_reserve_mib,
    master_reserve_mib,
    worker_minimum_mib,
)

CONTAINER_SHARE = 0.55
"""Most of a worker's memory beyond its daemons' floor that YARN may have; HBase gets the rest."""
HOST_CONTAINERS_LEAST = 2
"""An ApplicationMaster and one map: below that no MapReduce job can finish."""


def workers_mib(host: Host, arms: Sequence[Arm]) -> int:
    """Memory of a host that its worker nodes divide, equal in every arm."""
    return host.memory_mib - reserved_mib(host, arms)


def reserved_mib(host: Host, arms: Sequence[Arm]) -> int:
    """Memory of a host that workers cannot use: the host's own, the master's and the client's."""
    reserve = master_mib(arms) * ("master" in host.roles)
    reserve += client_reserve_mib(host.memory_mib) * ("client" in host.roles)
    if host.divided is None:
        return reserve
    guests = sum(role in host.roles for role in ("master", "client"))
    return reserve + host.divided.reserve_mib + guests * GUEST_OS_MIB


def master_mib(arms: Sequence[Arm]) -> int:
    """The master's memory, equal in every arm: that of the arm which needs most."""
    return max(master_reserve_mib(arm.configuration, arm.store.master_heaps_mib) for arm in arms)


def system_mib(host: Host, arm: Arm) -> int:
    """The part of a worker's share that its own system uses; on the bare host the reserve covers it."""
    return GUEST_OS_MIB if host.divided is not None and arm.vms_per_host > 0 else 0


def host_container_mib(host: Host, arms: Sequence[Arm]) -> int:
    """YARN's memory on a host: equal in every arm, a whole number of containers per node."""
    # What remains in the arm that leaves least, beyond the daemons of its nodes.
    spare_mib = min(workers_mib(host, arms) - arm.nodes * _least_mib(host, arm) for arm in arms)
    step_mib = _step_mib(arms)
    chosen_mib = int(spare_mib * CONTAINER_SHARE) // step_mib * step_mib
    chosen_mib = max(chosen_mib, _least_containers_mib(arms))
    if spare_mib < chosen_mib:
        raise _too_dense(host, arms)
    return chosen_mib


def _step_mib(arms: Sequence[Arm]) -> int:
    """The smallest amount that every density divides into whole containers per node."""
    return CONTAINER_MIB * lcm(*(arm.nodes for arm in arms))


def _least_containers_mib(arms: Sequence[Arm]) -> int:
    step_mib = _step_mib(arms)
    return ceil(HOST_CONTAINERS_LEAST * CONTAINER_MIB / step_mib) * step_mib


def _least_mib(host: Host, arm: Arm) -> int:
    """The minimum of one worker node: its daemons, and the own system of a guest or container."""
    daemons_mib = worker_minimum_mib(arm.regionservers_per_node, arm.configuration)
    return daemons_mib + system_mib(host, arm)


def _needed_mib(host: Host, arms: Sequence[Arm]) -> int:
    """The minimum memory with which the host can run each of the arms."""
    daemons_mib = max(arm.nodes * _least_mib(host, arm) for arm in arms)
    workers_least_mib = daemons_mib + _least_containers_mib(arms)
    needed_mib = workers_least_mib
    # a host with more memory also keeps more of it for its clients: a sixteenth, so this ends soon
    while (
        more := reserved_mib(replace(host, memory_mib=needed_mib), arms) + workers_least_mib
    ) > needed_mib:
        needed_mib = more
    return needed_mib


def _too_dense(host: Host, arms: Sequence[Arm]) -> InputError:
    """The error names the arm that needs most memory, for daemons and evenly divided containers."""
    worst = max(arms, key=lambda arm: arm.nodes * _least_mib(host, arm))
    others = [arm for arm in arms if arm.nodes < worst.nodes]
    fits = worst.nodes - 1
    while fits and host.memory_mib < _needed_mib(
        host, [*(arm for arm in others if arm.nodes < fits), replace(worst, vms_per_host=fits)]
    ):
        fits -= 1
    off_heap_mib, hdfs_mib = worst.configuration.off_heap_mib, worst.configuration.hdfs_cache_mib
    return InputError(
        f"{host.memory_mib} MiB cannot hold {worst.nodes} worker nodes with "
        f"{worst.regionservers_per_node} RegionServer(s) each{_named(worst)}: a node needs "
        f"{_least_mib(host, worst)} MiB for its daemons"
        f"{f' ({off_heap_mib} MiB of each RegionServer off-heap)' if off_heap_mib else ''}"
        f"{f' ({hdfs_mib} MiB of HDFS cache)' if hdfs_mib else ''}, "
        f"YARN {_least_containers_mib(arms)} MiB per host (equally many containers "
        f"in every arm, divided evenly), and {reserved_mib(host, arms)} MiB is reserved for "
        f"{'the host, ' if host.divided else ''}master and client.",
        f"host {host.name!r}, {worst.vms_per_host} of vms_per_host",
        f"{'take less off-heap memory, ' if off_heap_mib or hdfs_mib else ''}use at most {fits} node(s), "
        f"or give the host {_needed_mib(host, arms)} MiB or more.",
        ("factors", "vms_per_host"),
    )


def _named(arm: Arm) -> str:
    return f" ({', '.join(arm.levels.values())})" if arm.levels else ""
