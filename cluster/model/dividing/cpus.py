"""A host's NUMA nodes, cores and logical CPUs, and how nodes of a study divide them. Pure.

A divided host gives each node whole cores, with all of their hardware threads: of whole NUMA nodes, or all of
one. Dealt out by their numbers, logical CPUs are often the two threads of a core, which two nodes then share,
and a few large nodes span sockets where many small ones do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted


@dataclass(frozen=True)
class NumaNode:
    """`cores`: the logical CPUs of each core. `memory_mib`: all that is there; 0: unknown."""

    number: int
    cores: tuple[tuple[int, ...], ...]
    memory_mib: int = 0

    @property
    def cpus(self) -> tuple[int, ...]:
        return tuple(cpu for core in self.cores for cpu in core)


Cpus = tuple[NumaNode, ...]
"""The CPUs of a host in the order of their numbers. Empty: unknown. For a node: its exclusive ones."""


def cpus_of(numa: Cpus) -> tuple[int, ...]:
    return tuple(cpu for node in numa for cpu in node.cpus)


def cpus_from(facts: Iterable[Mapping[str, Any]]) -> Cpus:
    """The CPUs from JSON: each NUMA node's `number` and `cores`."""
    return tuple(NumaNode(one["number"], tuple(map(tuple, one["cores"]))) for one in facts)


def pinning(wanted: bool, host: Cpus) -> str:
    """How nodes are pinned to CPUs, for the disclosure."""
    if not wanted:
        return "none"
    if not host:
        return "none: the host does not say which CPUs belong to which core"
    cores = sum(len(node.cores) for node in host)
    return (
        f"whole cores: {cores} with {len(cpus_of(host))} CPUs on {counted(len(host), 'NUMA node')}"
    )


def cpus_in(text: str) -> tuple[int, ...]:
    """0,4 and 0-1,8: as Linux and libvirt write sets of CPUs."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(sorted(found))


def dealt_cpus(host: Cpus, index: int, nodes: int, cores: int, where: str) -> Cpus:
    """The CPUs of the node `index` (from 0) of `nodes`, on a host for which the study has `cores`; () if the
    host's are unknown.

    InputError with the densities that work if whole cores, or whole NUMA nodes, cannot be dealt out equally,
    and if the study's number of cores is not the host's.
    """
    if host and len(cpus_of(host)) != cores:
        raise InputError(
            f"it has {len(cpus_of(host))} logical CPUs, and the study says {cores}.",
            f"{where}, key cores",
            f"write cores: {len(cpus_of(host))}.",
            ("hosts",),
        )
    if shares := _shares(host, nodes):
        return shares[index]
    if not host:
        return ()
    able = [str(number) for number in range(1, cores + 1) if _shares(host, number)]
    raise InputError(
        f"its {sum(len(node.cores) for node in host)} cores on {counted(len(host), 'NUMA node')} cannot be "
        f"dealt out in equal shares of whole cores and whole NUMA nodes to {nodes} of vms_per_host.",
        f"{where}, pinned",
        f"use densities of {', '.join(able)}, or do not pin.",
        ("factors", "vms_per_host"),
    )


def _shares(host: Cpus, nodes: int) -> list[Cpus]:
    """Each node's share; empty if they would not be equal."""
    shares: list[Cpus] = []
    if host and len(host) % nodes == 0:
        each = len(host) // nodes
        shares = [host[begin : begin + each] for begin in range(0, len(host), each)]
    elif host and nodes % len(host) == 0:
        per_numa = nodes // len(host)
        shares = [(part,) for numa in host for part in _parts(numa, per_numa)]
    sizes = {(sum(len(n.cores) for n in share), len(cpus_of(share))) for share in shares}
    return shares if len(sizes) == 1 and (0, 0) not in sizes else []


def _parts(numa: NumaNode, parts: int) -> list[NumaNode]:
    """Empty if the cores do not divide."""
    each, rest = divmod(len(numa.cores), parts)
    if rest or not each:
        return []
    begins = range(0, len(numa.cores), each)
    return [replace(numa, cores=numa.cores[begin : begin + each]) for begin in begins]
