"""The hosts of an existing cluster that the study watches over SSH: monitors run there, and nothing else.

The build has one folder on each of them, with the monitors' code and samples. Nothing needs root.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import Node
from density_study.cluster.providers.provider import Machine
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.ssh.channel import channel, on_all
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.state.events import NodeReach
from density_study.cluster.state.journal import Journal


def reach(site: Site, existing: ExistingCluster, journal: Journal) -> None:
    """Make the build's folder on each host. HostLostError if one does not answer."""
    for host in existing.watched:
        journal.record(NodeReach(tag=site.tag, node=host.name, target=host.target))
    if existing.watched:
        SshBuild.known(site, journal).make_folders()


def machines(site: Site, existing: ExistingCluster, journal: Journal) -> tuple[Machine, ...]:
    transport = SshTransport(site, journal, lambda: SshBuild.known(site, journal).place)
    return tuple(Machine(host.name, _node(host), transport) for host in existing.watched)


def describe(existing: ExistingCluster) -> dict[str, Any]:
    """Facts about each host that a reader of the run needs."""
    targets = {host.name: host.target for host in existing.watched}
    return on_all(targets, lambda _, target: channel(target).act("describe"))


def unwatched(existing: ExistingCluster, names: Iterable[str]) -> list[str]:
    """The `names` (names or addresses of the cluster's hosts) that no watched host has."""
    if not existing.watched:
        return sorted(set(names))  # nothing to look up
    known = {known for host in existing.watched for known in (host.name, *_both(host.address))}
    return sorted({name for name in names if not known & set(_both(name))})


def _node(host: Host) -> Node:
    return Node(host.name, host.name, host.address, host.roles, host.memory_mib, host.cores)


def _both(name: str) -> tuple[str, ...]:
    """The name, and its address if this machine can find it."""
    try:
        return name, socket.gethostbyname(name)
    except OSError:
        return (name,)
