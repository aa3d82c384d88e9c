"""`ProviderRules`: what a study may request of a provider, and which of its hosts are queried.

Faults are ValueErrors. The defaults suit a provider whose nodes are hosts over SSH, or lie on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.model.host import ContainerHost, Host
from density_study.cluster.model.plain import counted
from density_study.cluster.providers.provider import provider_named
from density_study.workloads.base.checked import FaultyKeyError

if TYPE_CHECKING:
    from density_study.workloads.study.hosts_spec import HostSpec
    from density_study.workloads.study.keys import StudyKeys

DENSITIES = ("factors", "vms_per_host")
REPLICATION = ("stack", "replication")


class ProviderRules:
    """Rules for studies of the provider `name`."""

    key = ""
    """Its own key of a study file; empty: it has none."""
    builds = True
    """Whether a study builds its clusters; otherwise they exist."""
    declares_hosts = False
    """Hosts are as the study declares them: no plan contacts them."""
    over_ssh = ""
    """How a study of only this machine gets other hosts; empty: it does not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def filled(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """A study before it is validated, with the keys that every study has and its file need not say."""
        return value

    def check(self, study: StudyKeys) -> None:
        """ValueError for the first rule that a study of this provider violates."""
        if provider_named(self.nodes_by(study)).here:
            self.check_this_machine(study)
        elif study.ssh is None:
            raise FaultyKeyError(f"provider {self.name} needs the key ssh, with a user", "provider")
        else:
            check_addresses(study)
        check_workers(study)

    def check_foreign(self, study: StudyKeys) -> None:
        """ValueError if a study of another provider has what only this one takes."""
        if self.key and getattr(study, self.key) is not None:
            raise FaultyKeyError(
                f"key {self.key} needs provider {self.name}; the provider is {study.provider}",
                self.key,
            )

    def nodes_by(self, study: StudyKeys) -> str:
        """The provider of `cluster.providers` that makes the study's nodes."""
        return self.name

    def declared_hosts(self, study: StudyKeys, runs: Path) -> tuple[Host, ...]:
        """The hosts as the study declares them. Only of a provider that `declares_hosts`."""
        raise NotImplementedError

    def parts(self, study: StudyKeys) -> Sequence[ContainerHost | None]:
        """How each host is divided, where only the study says so."""
        return (None,) * len(study.hosts)

    def check_this_machine(self, study: StudyKeys) -> None:
        if len(study.hosts) > 1:
            raise FaultyKeyError(
                f"provider {self.name} has exactly one host, this machine{self.over_ssh}", "hosts"
            )
        if study.hosts[0].address != "127.0.0.1":
            raise FaultyKeyError(
                f"provider {self.name} runs on this machine only, 127.0.0.1{self.over_ssh}",
                *("hosts", 0, "address"),
            )

    def check_densities(self, study: StudyKeys) -> None:
        """At least one density divides the host, and several RegionServers are on the bare host."""
        made_by = provider_named(self.nodes_by(study))
        noun = made_by.isolation.facts.noun
        if max(study.factors.vms_per_host) == 0:
            raise FaultyKeyError(
                f"vms_per_host contains no {noun}; for bare hosts only, write provider: {made_by.bare}",
                *DENSITIES,
            )
        several = [n for n in study.factors.regionservers_per_node if n > 1]
        if several and 0 not in study.factors.vms_per_host:
            raise FaultyKeyError(
                f"regionservers_per_node {several[0]} is the control variant on the bare host (a {noun} "
                "has one RegionServer); add 0 to vms_per_host, or remove it",
                *("factors", "regionservers_per_node"),
            )


def known_hosts_of(study: StudyKeys, runs: Path) -> Path:
    """The study's own file of host keys, in the folder of all its runs."""
    return runs.absolute() / study.study / "known_hosts"


def check_workers(study: StudyKeys) -> None:
    """Every density has a worker for each replica; all densities need the same replication."""
    hosts = min(study.factors.hosts or (len(worker_hosts(study)),))
    workers = hosts * max(1, min(study.factors.vms_per_host))
    if study.stack.replication > workers:
        raise FaultyKeyError(
            f"stack.replication {study.stack.replication} exceeds the {counted(workers, 'worker')} of the "
            "smallest variant; all variants need the same replication",
            *REPLICATION,
        )


def check_addresses(
    study: StudyKeys, hosts: Sequence[HostSpec] | None = None, loopback: bool = False
) -> None:
    """For `hosts` (default: all), no two have one address. `loopback`: only the controller reaches them."""
    hosts = study.hosts if hosts is None else hosts
    addresses = [host.address for host in hosts]
    for index, address in enumerate(addresses):
        key = ("hosts", index, "address")
        if address in addresses[:index]:
            raise FaultyKeyError(f"duplicate host address: {address!r}", *key)
        if not loopback and (address == "localhost" or address.startswith("127.")):
            raise FaultyKeyError(
                f"host {hosts[index].name!r} has the loopback address {address}, which other hosts "
                "cannot reach",
                *key,
            )


def check_no_jump(study: StudyKeys) -> None:
    """For nodes to which this machine itself has to connect."""
    if study.ssh is not None and study.ssh.jump is not None:
        raise FaultyKeyError(
            f"provider {study.provider} reaches its nodes directly, not through another host; remove jump, "
            "and run the study on a machine of their network",
            *("ssh", "jump"),
        )


def worker_hosts(study: StudyKeys) -> list[HostSpec]:
    return [host for host in study.hosts if "worker" in host.roles]
