"""Rules for studies of each provider. Pure; faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError
from density_study.cluster.render.names import check_path
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.existing_spec import check_given
from density_study.workloads.study.factors.stack import versions_of
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.libvirt_hosts import guests_on, needs_ssh

if TYPE_CHECKING:
    from density_study.workloads.study.hosts_spec import HostSpec
    from density_study.workloads.study.vms_spec import VmsSpec

_DENSITIES = ("factors", "vms_per_host")
_REPLICATION = ("stack", "replication")
_OVER_SSH = {"local": "", "container": "; other hosts need the key ssh, with user: root"}


def check_provider(study: StudyKeys) -> None:
    """ValueError for the first rule of its provider that the study violates."""
    if (study.existing is None) != (study.provider != "existing"):
        missing = "provider existing needs the key existing, with configuration and folder"
        message = missing if study.existing is None else "key existing needs provider existing"
        raise FaultyKeyError(message, "provider" if study.existing is None else "existing")
    if study.containers is not None and study.provider != "container":
        raise FaultyKeyError(
            f"key containers needs provider container; the provider is {study.provider}",
            "containers",
        )
    if study.existing is not None:  # what its settings may not ask for: `Setting.check_topology`
        if own := {"jmx", "gc", "profile"}.intersection(study.monitor.also):
            raise FaultyKeyError(
                f"{min(own)} watches daemons that the study has started; those of a given cluster belong "
                "to others",
                *("monitor", "also"),
            )
        check_given(study.existing, study.factors.cluster, [host.name for host in study.hosts[:-1]])
        _check_addresses(study, study.hosts[:-1], loopback=True)
        return
    if study.factors.cluster is not None:
        raise FaultyKeyError(
            f"factors.cluster compares given clusters: it needs provider existing; the provider is "
            f"{study.provider}",
            *("factors", "cluster"),
        )
    if study.provider == "libvirt":
        _check_libvirt(study)
        return
    if study.vms is not None:
        raise FaultyKeyError(
            f"key vms needs provider libvirt; the provider is {study.provider}", "vms"
        )
    for index, host in enumerate(study.hosts):
        if host.libvirt is not None:
            message = f"host {host.name!r}: key libvirt needs provider libvirt"
            raise FaultyKeyError(message, "hosts", index, "libvirt")
    if study.provider == "local":
        _check_local(study)
    elif study.provider == "container":
        _check_container(study)
    else:
        _check_physical(study)


def _check_local(study: StudyKeys) -> None:
    _check_this_machine(study)
    if 0 in study.factors.vms_per_host:
        raise FaultyKeyError(
            "vms_per_host 0 is the bare host; provider local has process groups only: start at 1",
            *_DENSITIES,
        )
    _check_workers(study)


def _check_this_machine(study: StudyKeys) -> None:
    if len(study.hosts) > 1:
        raise FaultyKeyError(
            f"provider {study.provider} has exactly one host, this machine{_OVER_SSH[study.provider]}",
            "hosts",
        )
    if study.hosts[0].address != "127.0.0.1":
        raise FaultyKeyError(
            f"provider {study.provider} runs on this machine only, 127.0.0.1{_OVER_SSH[study.provider]}",
            *("hosts", 0, "address"),
        )


def _check_container(study: StudyKeys) -> None:
    if study.ssh is None:
        _check_this_machine(study)
    elif study.ssh.user != "root":
        raise FaultyKeyError(
            f"only root makes containers; user {study.ssh.user!r} cannot: write user: root, on hosts of a "
            "laboratory",
            *("ssh", "user"),
        )
    else:
        _check_addresses(study)
    _check_densities(study, "container", "physical" if study.ssh else "local")
    study.container_hosts()  # ValueError if they are too many
    _check_workers(study)


def _check_densities(study: StudyKeys, noun: str, bare: str) -> None:
    """At least one density divides the host, and several RegionServers are on the bare host."""
    if max(study.factors.vms_per_host) == 0:
        raise FaultyKeyError(
            f"vms_per_host contains no {noun}; for bare hosts only, write provider: {bare}",
            *_DENSITIES,
        )
    several = [n for n in study.factors.regionservers_per_node if n > 1]
    if several and 0 not in study.factors.vms_per_host:
        raise FaultyKeyError(
            f"regionservers_per_node {several[0]} is the control arm on the bare host (a {noun} has one "
            "RegionServer); add 0 to vms_per_host, or remove it",
            *("factors", "regionservers_per_node"),
        )


def _check_physical(study: StudyKeys) -> None:
    if study.ssh is None:
        raise FaultyKeyError("provider physical needs the key ssh, with a user", "provider")
    _check_addresses(study)
    if study.factors.vms_per_host != (0,):
        raise FaultyKeyError(
            "provider physical has bare hosts only: vms_per_host: [0]", *_DENSITIES
        )
    _check_workers(study)


def _check_libvirt(study: StudyKeys) -> None:
    if study.stack.java or any(versions.java for versions in versions_of(study)):
        key = ("factors", "stack") if study.factors.stack else ("stack", "java")
        raise FaultyKeyError(
            "the guests of provider libvirt have Debian's JDK 17 only; remove java", *key
        )
    if study.vms is None:
        message = "provider libvirt needs the key vms with the guests' network and addresses"
        raise FaultyKeyError(message, "provider")
    _check_densities(study, "VM", "physical")
    for index, host in enumerate(study.hosts):
        _check_declared(host, index)
        _check_shares(study, study.vms, host)
    by_ssh = needs_ssh(study)
    if by_ssh and study.ssh is None:
        raise FaultyKeyError(
            "these hosts need SSH (they run as bare hosts, or have no key libvirt): "
            "add the key ssh with a user",
            "hosts",
        )
    if by_ssh or len(study.hosts) > 1:
        _check_addresses(study)
    _check_guests_addresses(study, study.vms)
    _check_workers(study)
    if study.stack.replication > 1 and len(_worker_hosts(study)) == 1:
        raise FaultyKeyError(
            f"stack.replication {study.stack.replication} with one worker host would put all replicas of "
            "a block on it, and lose them together; write replication: 1, or add hosts",
            *_REPLICATION,
        )


def _check_workers(study: StudyKeys) -> None:
    """Every density has a worker for each replica; all densities need the same replication."""
    workers = len(_worker_hosts(study)) * max(1, min(study.factors.vms_per_host))
    if study.stack.replication > workers:
        raise FaultyKeyError(
            f"stack.replication {study.stack.replication} exceeds the {workers} worker(s) of the "
            "smallest arm; all arms need the same replication",
            *_REPLICATION,
        )


def _check_declared(host: HostSpec, index: int) -> None:
    """A plan does not contact libvirt hosts, so that it cannot resolve `auto`."""
    values: dict[tuple[str | int, ...], object] = {("cores",): host.cores, ("memory",): host.memory}
    for number, disk in enumerate(host.disks):
        values |= {("disks", number, "path"): disk.path, ("disks", number, "medium"): disk.medium}
    for key, value in values.items():
        if value == "auto":
            raise FaultyKeyError(
                f"host {host.name!r}: {key[-1]} is auto; with provider libvirt a plan contacts no host, so "
                "write the actual value (guests verify the medium before the first trial)",
                *("hosts", index, *key),
            )
    for number, disk in enumerate(host.disks):
        try:
            check_path(PurePath(disk.path), f"host {host.name!r}")
        except InputError as error:
            key = ("hosts", index, "disks", number, "path")
            raise FaultyKeyError(
                f"{error.what.rstrip('.')}; {error.remedy.rstrip('.')}", *key
            ) from error
    if not host.disks:
        message = f"host {host.name!r} has no disk for its guests"
        raise FaultyKeyError(message, "hosts", index, "disks")


def _check_shares(study: StudyKeys, vms: VmsSpec, host: HostSpec) -> None:
    if vms.vcpus != "pinned" or "worker" not in host.roles:
        return
    for density in study.factors.vms_per_host:
        if density and int(host.cores) % density:
            raise FaultyKeyError(
                f"vms.vcpus pinned: the {host.cores} cores of host {host.name!r} cannot be divided equally "
                f"among {density} VMs; write vcpus: all, or densities that divide the cores",
                *("vms", "vcpus"),
            )


def _check_guests_addresses(study: StudyKeys, vms: VmsSpec) -> None:
    if len(study.hosts) > 1 and vms.bridge is None:
        raise FaultyKeyError(
            "vms.bridge is missing: a build's own network does not reach beyond its host, and the study "
            f"has {len(study.hosts)} hosts; name a bridge that exists on all of them",
            "vms",
        )
    for host in study.hosts:
        if host.address in vms.range:
            raise FaultyKeyError(
                f"vms.addresses contains {host.address}, the address of host {host.name!r} itself",
                *("vms", "addresses"),
            )
    needed = sum(guests_on(study, host) for host in study.hosts)
    if needed > len(vms.range):
        raise FaultyKeyError(
            f"vms.addresses has {len(vms.range)} address(es); the hosts have up to {needed} guests",
            *("vms", "addresses"),
        )


def _check_addresses(
    study: StudyKeys, hosts: Sequence[HostSpec] | None = None, loopback: bool = False
) -> None:
    """Of `hosts` (default: all), no two have one address. `loopback`: only the controller reaches them."""
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


def _worker_hosts(study: StudyKeys) -> list[HostSpec]:
    return [host for host in study.hosts if "worker" in host.roles]
