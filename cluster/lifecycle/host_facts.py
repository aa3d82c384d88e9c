"""What of the hosts changes results, asked of each of them: `cluster.machine.equality`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from density_study.cluster.machine.equality.reading import read_facts
from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import ExistingTopology, Topology
from density_study.cluster.providers.provider import folders_of
from density_study.cluster.providers.ssh.channel import channel

HostFacts = Mapping[str, Mapping[str, Any]]
"""`machine` and `network`: facts by host; `disks`: facts by host and folder."""


def facts_of(topology: Topology | ExistingTopology) -> HostFacts:
    """Of the hosts that carry nodes; of an existing cluster, of its watched hosts and of the client's."""
    if isinstance(topology, ExistingTopology):
        client, watched = topology.client, topology.existing.watched
        answers = _ask(dict.fromkeys(watched, ()))
        answers[client.host] = read_facts((), client.address)
    else:
        answers = _ask({host: folders_of(topology, host) for host in topology.occupied})
    return {scope: {host: found[scope] for host, found in answers.items()} for scope in _SCOPES}


_SCOPES = ("machine", "disks", "network")


def _ask(folders: Mapping[Host, Sequence[str]]) -> dict[str, dict[str, Any]]:
    def asked(host: Host) -> dict[str, Any]:
        arguments = list(folders[host]), host.address
        if host.login is None:
            return read_facts(*arguments)
        found: dict[str, Any] = channel(host.target).act("facts", *arguments)
        return found

    hosts: Iterable[Host] = folders
    with ThreadPoolExecutor(max_workers=max(1, len(folders))) as pool:
        return dict(zip((host.name for host in hosts), pool.map(asked, hosts), strict=True))
