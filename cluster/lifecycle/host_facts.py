"""Facts about hosts that change results, read on each of them: `cluster.machine.equality`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from density_study.cluster.machine.equality.reading import read_facts
from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import AnyTopology, ExistingTopology
from density_study.cluster.providers.provider import folders_of
from density_study.cluster.providers.ssh.acting import act_on

_SCOPES = ("machine", "disks", "network")
HostFacts = Mapping[str, Mapping[str, Any]]
"""`machine` and `network`: facts by host; `disks`: facts by host and folder."""


def facts_of(*topologies: AnyTopology) -> HostFacts:
    """Facts of the hosts that carry nodes. For an existing cluster: facts of the client and of the hosts that
    the study watches. All hosts are queried at the same time, each once; one without access has no facts."""
    hosts: dict[str, Host] = {}
    folders: dict[str, dict[str, None]] = {}
    answers: dict[str, dict[str, Any]] = {}
    for topology in topologies:
        if isinstance(topology, ExistingTopology):
            of_hosts = dict.fromkeys(topology.existing.watched, tuple[str, ...]())
            client = topology.client
            answers[client.host] = read_facts((), client.address)
        else:
            of_hosts = {host: tuple(folders_of(topology, host)) for host in topology.occupied}
        for host, names in of_hosts.items():
            hosts[host.name] = host
            folders.setdefault(host.name, {}).update(dict.fromkeys(names))

    def asked(host: Host) -> dict[str, Any]:
        act = act_on(host)
        if act is None:
            return {scope: {} for scope in _SCOPES}
        found: dict[str, Any] = act("facts", list(folders[host.name]), host.address)
        return found

    with ThreadPoolExecutor(max_workers=max(1, len(hosts))) as pool:
        answers |= zip(hosts, pool.map(asked, hosts.values()), strict=True)
    return {scope: {host: found[scope] for host, found in answers.items()} for scope in _SCOPES}
