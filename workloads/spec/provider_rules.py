"""What each provider asks of a study, beyond what every study must keep. Pure; faults are ValueErrors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.model.errors import InputError
from cluster.render.names import check_address
from workloads.base.checked import FaultyKeyError
from workloads.spec.libvirt_hosts import guests_on, needs_ssh

if TYPE_CHECKING:
    from workloads.spec.study import HostSpec, Study


def check_provider(study: Study) -> None:
    """ValueError for the first rule of the study's provider that it breaks."""
    if study.provider != "libvirt":
        if study.vms is not None:
            raise FaultyKeyError(
                f"key vms is for provider libvirt; the provider is {study.provider}", "vms"
            )
        for index, host in enumerate(study.hosts):
            if host.libvirt is not None:
                raise FaultyKeyError(
                    f"host {host.name!r}: key libvirt is for provider libvirt",
                    "hosts",
                    index,
                    "libvirt",
                )
    {"local": _check_local, "physical": _check_physical, "libvirt": _check_libvirt}[study.provider](
        study
    )


def _check_local(study: Study) -> None:
    if len(study.hosts) > 1:
        raise FaultyKeyError("provider local has one host: this machine", "hosts")
    if study.hosts[0].address != "127.0.0.1":
        raise FaultyKeyError("provider local runs on 127.0.0.1 only", "hosts", 0, "address")
    if 0 in study.factors.vms_per_host:
        raise FaultyKeyError(
            "vms_per_host 0 is the bare host; provider local has process groups only: begin at 1",
            "factors",
            "vms_per_host",
        )
    fewest = min(study.factors.vms_per_host)
    if study.stack.replication > fewest:
        raise FaultyKeyError(
            f"stack.replication {study.stack.replication} is more than the smallest arm's "
            f"{fewest} worker(s); it must be equal in all arms (constant hardware)",
            "stack",
            "replication",
        )


def _check_physical(study: Study) -> None:
    if study.ssh is None:
        raise FaultyKeyError("provider physical needs the key ssh, with a user", "provider")
    _check_addresses(study)
    if study.factors.vms_per_host != (0,):
        raise FaultyKeyError(
            "provider physical has bare hosts only: vms_per_host: [0]", "factors", "vms_per_host"
        )
    workers = len(_worker_hosts(study))
    if study.stack.replication > workers:
        raise FaultyKeyError(
            f"stack.replication {study.stack.replication} is more than the {workers} worker(s)",
            "stack",
            "replication",
        )


def _check_libvirt(study: Study) -> None:
    if study.vms is None:
        raise FaultyKeyError(
            "provider libvirt needs the key vms: the guests' network, and their addresses in it",
            "provider",
        )
    if max(study.factors.vms_per_host) == 0:
        raise FaultyKeyError(
            "vms_per_host has no VM; for bare hosts alone write provider: physical",
            "factors",
            "vms_per_host",
        )
    _check_control_arm(study)
    for index, host in enumerate(study.hosts):
        _check_declared(host, index)
        _check_shares(study, host)
    _check_reached(study)
    _check_guests_addresses(study)
    _check_replicas(study)


def _check_control_arm(study: Study) -> None:
    several = [n for n in study.factors.regionservers_per_node if n > 1]
    if several and 0 not in study.factors.vms_per_host:
        raise FaultyKeyError(
            f"regionservers_per_node {several[0]} is the control arm on the bare host (a VM carries one "
            "RegionServer); add 0 to vms_per_host, or leave it out",
            "factors",
            "regionservers_per_node",
        )


def _check_declared(host: HostSpec, index: int) -> None:
    """Planning asks no host of libvirt anything, so nothing can be `auto`."""
    said: dict[tuple[str | int, ...], object] = {("cores",): host.cores, ("memory",): host.memory}
    for number, disk in enumerate(host.disks):
        said |= {("disks", number, "path"): disk.path, ("disks", number, "medium"): disk.medium}
    for key, value in said.items():
        if value == "auto":
            raise FaultyKeyError(
                f"host {host.name!r}: {key[-1]} is auto; with provider libvirt a plan asks no host, so "
                "write what it has (a medium is proved in the guests before the first trial)",
                *("hosts", index, *key),
            )
    if not host.disks:
        raise FaultyKeyError(
            f"host {host.name!r} has no disk for its guests", "hosts", index, "disks"
        )


def _check_shares(study: Study, host: HostSpec) -> None:
    assert study.vms is not None
    if study.vms.vcpus != "pinned" or "worker" not in host.roles:
        return
    for density in study.factors.vms_per_host:
        if density and int(host.cores) % density:
            raise FaultyKeyError(
                f"vms.vcpus pinned: {host.cores} cores of host {host.name!r} make no equal shares for "
                f"{density} VMs; write vcpus: all, or densities that divide the cores",
                "vms",
                "vcpus",
            )


def _check_reached(study: Study) -> None:
    by_ssh = needs_ssh(study)
    if by_ssh and study.ssh is None:
        raise FaultyKeyError(
            "the hosts are reached over SSH (for bare hosts, and where a host has no key libvirt): "
            "give the key ssh, with a user",
            "hosts",
        )
    if by_ssh or len(study.hosts) > 1:
        _check_addresses(study)


def _check_guests_addresses(study: Study) -> None:
    assert study.vms is not None
    if len(study.hosts) > 1 and study.vms.bridge is None:
        raise FaultyKeyError(
            "vms.bridge is missing: a network of the build's own does not leave its host, and there "
            f"are {len(study.hosts)} hosts; name a bridge that all of them have",
            "vms",
        )
    given = study.vms.range
    for host in study.hosts:
        if host.address in given:
            raise FaultyKeyError(
                f"vms.addresses holds {host.address}, the address of host {host.name!r} itself",
                "vms",
                "addresses",
            )
    needed = sum(guests_on(study, host) for host in study.hosts)
    if needed > len(given):
        raise FaultyKeyError(
            f"vms.addresses has {len(given)} address(es); the hosts have up to {needed} guests at once",
            "vms",
            "addresses",
        )


def _check_replicas(study: Study) -> None:
    """Replicas on different hosts, at every density, or none at all."""
    wanted, hosts = study.stack.replication, len(_worker_hosts(study))
    fewest = hosts * min(max(density, 1) for density in study.factors.vms_per_host)
    if wanted > fewest:
        raise FaultyKeyError(
            f"stack.replication {wanted} is more than the smallest arm's {fewest} worker(s); it must "
            "be equal in all arms (constant hardware)",
            "stack",
            "replication",
        )
    if wanted > 1 and hosts == 1:
        raise FaultyKeyError(
            f"stack.replication {wanted} with one worker host: all replicas of a block would lie on "
            "it, and be lost with it; write replication: 1, or give more hosts",
            "stack",
            "replication",
        )


def _check_addresses(study: Study) -> None:
    seen: set[str] = set()
    for index, host in enumerate(study.hosts):
        if host.address in seen:
            raise FaultyKeyError(
                f"duplicate host address: {host.address!r}", "hosts", index, "address"
            )
        seen.add(host.address)
        try:
            check_address(host.address, "hosts")
        except InputError as error:
            raise FaultyKeyError(error.what.rstrip("."), "hosts", index, "address") from error
        if host.address == "localhost" or host.address.startswith("127."):
            raise FaultyKeyError(
                f"host {host.name!r} has the loopback address {host.address}; other hosts "
                "could not reach it",
                "hosts",
                index,
                "address",
            )


def _worker_hosts(study: Study) -> list[HostSpec]:
    return [host for host in study.hosts if "worker" in host.roles]
