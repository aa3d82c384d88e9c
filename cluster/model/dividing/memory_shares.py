"""Shares of a host's memory: its own reserve, the master, the client, workers, and their YARN containers.

Every variant divides the same memory. Pure functions, in MiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, lcm

from density_study.cluster.model.dividing.sizing import SMALLEST
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import (
    GUEST_OS_MIB,
    LEAST_DAEMON_HEAP_MIB,
    client_reserve_mib,
    master_reserve_mib,
    worker_minimum_mib,
)
from density_study.cluster.model.plain import counted
from density_study.cluster.model.variant import Variant

HOST_CONTAINERS_LEAST = 2
"""An ApplicationMaster and one map: below that no MapReduce job can finish."""


def workers_mib(host: Host, variants: Sequence[Variant]) -> int:
    """Memory of a host that its worker nodes divide, equal in every variant."""
    return host.memory_mib - reserved_mib(host, variants)


def reserved_mib(host: Host, variants: Sequence[Variant]) -> int:
    """Memory of a host that workers cannot use: the host's own, the master's and the client's."""
    reserve = master_mib(variants) * ("master" in host.roles)
    reserve += client_reserve_mib(host.memory_mib) * ("client" in host.roles)
    if host.divided is None:
        return reserve
    guests = sum(role in host.roles for role in ("master", "client"))
    return reserve + host.divided.reserve_mib + guests * GUEST_OS_MIB


def master_mib(variants: Sequence[Variant]) -> int:
    """The master's memory, equal in every variant: that of the variant which needs most."""
    return max(
        master_reserve_mib(variant.configuration, variant.sizing, variant.store.master_heaps_mib)
        for variant in variants
    )


def system_mib(host: Host, variant: Variant) -> int:
    """The part of a worker's share that its own system uses; on the bare host the reserve covers it."""
    return GUEST_OS_MIB if host.divided is not None and variant.vms_per_host > 0 else 0


def with_shares(hosts: Sequence[Host], variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants with each share of a node as an amount: that of the smallest node, so that all
    RegionServers of a variant are equal. InputError if shares leave too little for a node's other daemons and
    containers."""
    placed = [_with_shares(hosts, variant, variants) for variant in variants]
    if faults := [one for one in placed if isinstance(one, _TooLarge)]:
        raise min(faults, key=lambda one: one.most_percent).error()
    return tuple(one for one in placed if isinstance(one, Variant))


@dataclass(frozen=True)
class _TooLarge:
    """Shares of a variant that its smallest node cannot give."""

    variant: Variant
    host: Host
    memory_mib: int
    others_mib: int
    containers_mib: int

    @property
    def most_percent(self) -> int:
        left_mib = self.memory_mib - self.containers_mib - self.others_mib
        return 100 * left_mib // self.memory_mib

    def error(self) -> InputError:
        percent = self.variant.configuration.node_percent
        return InputError(
            f"{percent:g}% of a node of {self.memory_mib} MiB leave too little: all else of its daemons "
            f"needs {self.others_mib} MiB, and YARN at least {self.containers_mib} MiB.",
            f"host {self.host.name!r}, {self.variant.vms_per_host} of vms_per_host{_named(self.variant)}",
            f"let heap and block cache take at most {self.most_percent}% of the node together."
            if self.most_percent > 0
            else "use fewer nodes per host, or give the host more memory.",
            ("factors", "configuration"),
        )


def _with_shares(
    hosts: Sequence[Host], variant: Variant, variants: Sequence[Variant]
) -> Variant | _TooLarge:
    percent, servers = variant.configuration.node_percent, variant.regionservers_per_node
    if not percent:
        return variant
    memory_mib, host = min(
        ((node_mib(host, variant, variants), host) for host in hosts if "worker" in host.roles),
        key=lambda found: found[0],
    )
    if memory_mib <= 0:  # which placement reports
        return variant
    configuration = variant.configuration.on_node(memory_mib, servers)
    containers_mib = _least_containers_mib(variants) // variant.nodes
    heap_mib = configuration.of("regionserver").heap_mib
    if heap_mib is not None and heap_mib < LEAST_DAEMON_HEAP_MIB:
        raise InputError(
            f"the heap of a RegionServer would be {heap_mib} MiB of a node of {memory_mib} MiB, and it needs "
            f"{LEAST_DAEMON_HEAP_MIB} MiB.",
            f"host {host.name!r}, {variant.vms_per_host} of vms_per_host{_named(variant)}",
            f"give heap {ceil(100 * LEAST_DAEMON_HEAP_MIB * servers / memory_mib)}% of the node or more.",
            ("factors", "configuration"),
        )
    taken_mib = worker_minimum_mib(servers, configuration, variant.sizing)
    if taken_mib + containers_mib > memory_mib:
        others_mib = taken_mib - int(memory_mib * percent / 100)
        return _TooLarge(variant, host, memory_mib, others_mib, containers_mib)
    return replace(variant, configuration=configuration)


def node_mib(host: Host, variant: Variant, variants: Sequence[Variant]) -> int:
    """Memory of each of its worker nodes."""
    return workers_mib(host, variants) // variant.nodes - system_mib(host, variant)


def host_container_mib(host: Host, variants: Sequence[Variant]) -> int:
    """YARN's memory on a host: equal in every variant, a whole number of containers per node."""
    # What remains in the variant that leaves least, beyond the daemons of its nodes.
    spare_mib = min(
        workers_mib(host, variants) - variant.nodes * _least_mib(host, variant)
        for variant in variants
    )
    step_mib = _step_mib(variants)
    wanted_mib = int(spare_mib * variants[0].sizing.container_percent / 100)
    chosen_mib = wanted_mib // step_mib * step_mib
    chosen_mib = max(chosen_mib, _least_containers_mib(variants))
    if spare_mib < chosen_mib:
        raise _too_dense(host, variants)
    return chosen_mib


def _step_mib(variants: Sequence[Variant]) -> int:
    """The smallest amount that every density divides into whole containers per node."""
    return variants[0].sizing.container_mib * lcm(*(variant.nodes for variant in variants))


def _least_containers_mib(variants: Sequence[Variant]) -> int:
    step_mib = _step_mib(variants)
    return ceil(HOST_CONTAINERS_LEAST * variants[0].sizing.container_mib / step_mib) * step_mib


def _least_mib(host: Host, variant: Variant) -> int:
    """The minimum of one worker node: its daemons, and the own system of a guest or container."""
    daemons_mib = worker_minimum_mib(
        variant.regionservers_per_node, variant.configuration, variant.sizing
    )
    return daemons_mib + system_mib(host, variant)


def _needed_mib(host: Host, variants: Sequence[Variant]) -> int:
    """The minimum memory with which the host can run each of the variants."""
    daemons_mib = max(variant.nodes * _least_mib(host, variant) for variant in variants)
    workers_least_mib = daemons_mib + _least_containers_mib(variants)
    needed_mib = workers_least_mib
    # a host with more memory also keeps more of it for its clients: a sixteenth, so this ends soon
    while (
        more := reserved_mib(replace(host, memory_mib=needed_mib), variants) + workers_least_mib
    ) > needed_mib:
        needed_mib = more
    return needed_mib


def _too_dense(host: Host, variants: Sequence[Variant]) -> InputError:
    """The error names the variant that needs most memory, for daemons and evenly divided containers."""
    worst = max(variants, key=lambda variant: variant.nodes * _least_mib(host, variant))
    others = [variant for variant in variants if variant != worst]
    fits, servers = worst.nodes - 1, worst.regionservers_per_node
    while fits and host.memory_mib < _needed_mib(
        host,
        [
            *(one for one in others if one.nodes < fits and _servers(one) <= fits * servers),
            replace(worst, vms_per_host=fits),
        ],
    ):
        fits -= 1
    fewer = f"use at most {counted(fits, 'node')}" if fits else "make heaps smaller"
    off_heap_mib, hdfs_mib = worst.configuration.off_heap_mib, worst.configuration.hdfs_cache_mib
    return InputError(
        f"{host.memory_mib} MiB cannot hold {worst.nodes} worker nodes with "
        f"{counted(worst.regionservers_per_node, 'RegionServer')} each{_named(worst)}: a node needs "
        f"{_least_mib(host, worst)} MiB for its daemons"
        f"{f' ({off_heap_mib} MiB of each RegionServer off-heap)' if off_heap_mib else ''}"
        f"{f' ({hdfs_mib} MiB of HDFS cache)' if hdfs_mib else ''}, "
        f"YARN {_least_containers_mib(variants)} MiB per host (equally many containers "
        f"in every variant, divided evenly), and {reserved_mib(host, variants)} MiB is reserved for "
        f"{'the host, ' if host.divided else ''}master and client.",
        f"host {host.name!r}, {worst.vms_per_host} of vms_per_host",
        f"{'take less off-heap memory, ' if off_heap_mib or hdfs_mib else ''}"
        f"{'make stack.yarn.container smaller, ' if worst.sizing != SMALLEST else ''}"
        f"{fewer}, or give the host "
        f"{_needed_mib(host, variants)} MiB or more.",
        ("factors", "vms_per_host"),
    )


def _servers(variant: Variant) -> int:
    """RegionServers on a host. The control of guests has as many on the bare host, which go with them."""
    return variant.nodes * variant.regionservers_per_node


def _named(variant: Variant) -> str:
    return f" ({', '.join(variant.levels.values())})" if variant.levels else ""
