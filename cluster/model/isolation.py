"""`Isolation`: what keeps the nodes of a host apart. Its facts decide what others would ask its name for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class IsolationFacts:
    """What follows from the way in which nodes are kept apart. The defaults are those of a VM."""

    noun: str = "VM"
    """What a node is called."""
    workers: str = "worker VM"
    """What a worker of a host is called."""
    own_kernel: bool = False
    """Each node has a kernel: page cache, processes and disks of its own."""
    own_address: bool = False
    """Each node has an address; otherwise all have that of their host."""
    on_loopback: bool = False
    """All nodes are on this machine's loopback, which no other machine reaches."""
    is_bare: bool = False
    """Nothing divides the host: it is the control variant of those that are divided."""
    by_quota: bool = False
    """Processes that have used up the node's CPU time wait for the next period."""
    stand_in: str = ""
    """What nodes are in place of VMs; empty: nothing is in place of them."""
    only_stands_in: bool = False
    """Nodes are no kind of node that anybody uses: they support no claim about density."""


class Isolation(StrEnum):
    """What keeps the nodes of a host apart. JSON and tables hold its value."""

    PROCESS = "process"
    HOST = "host"
    VM = "vm"
    CONTAINER = "container"
    UNKNOWN = "unknown"
    """The isolation of a cluster that others built."""

    @property
    def facts(self) -> IsolationFacts:
        return _FACTS[self]


_FACTS = {
    Isolation.PROCESS: IsolationFacts(
        noun="worker",
        workers="worker",
        on_loopback=True,
        stand_in="process groups, not VMs",
        only_stands_in=True,
    ),
    Isolation.HOST: IsolationFacts(workers="worker", is_bare=True),
    Isolation.VM: IsolationFacts(own_kernel=True, own_address=True),
    Isolation.CONTAINER: IsolationFacts(
        noun="container",
        workers="worker container",
        own_address=True,
        by_quota=True,
        stand_in="containers, not VMs",
    ),
    Isolation.UNKNOWN: IsolationFacts(),
}


def isolation_of(variants: Iterable[Isolation]) -> Isolation:
    """What isolates the nodes of a run, by that of its variants: the bare host is the others' control."""
    found = list(variants)
    return next((one for one in found if not one.facts.is_bare), found[0])
