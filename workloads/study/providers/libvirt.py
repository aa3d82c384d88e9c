"""Rules of provider libvirt: VMs on hosts as the study declares them."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.render.names import check_path
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.factors.stack import versions_of
from density_study.workloads.study.providers.libvirt_hosts import (
    declared_hosts,
    guests_on,
    needs_ssh,
)
from density_study.workloads.study.providers.rules import (
    REPLICATION,
    ProviderRules,
    check_addresses,
    check_no_jump,
    check_workers,
    worker_hosts,
)

if TYPE_CHECKING:
    from density_study.workloads.study.hosts_spec import HostSpec
    from density_study.workloads.study.keys import StudyKeys
    from density_study.workloads.study.vms_spec import VmsSpec


class LibvirtRules(ProviderRules):
    key = "vms"
    declares_hosts = True

    def declared_hosts(self, study: StudyKeys, runs: Path) -> tuple[Host, ...]:
        return declared_hosts(study, runs)

    def check_foreign(self, study: StudyKeys) -> None:
        super().check_foreign(study)
        for index, host in enumerate(study.hosts):
            if host.libvirt is not None:
                message = f"host {host.name!r}: key libvirt needs provider libvirt"
                raise FaultyKeyError(message, "hosts", index, "libvirt")

    def check(self, study: StudyKeys) -> None:
        if study.stack.java or any(versions.java for versions in versions_of(study)):
            key = ("factors", "stack") if study.factors.stack else ("stack", "java")
            raise FaultyKeyError(
                "the guests of provider libvirt have Debian's JDK 17 only; remove java", *key
            )
        if study.vms is None:
            message = "provider libvirt needs the key vms with the guests' network and addresses"
            raise FaultyKeyError(message, "provider")
        check_no_jump(study)
        self.check_densities(study)
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
            check_addresses(study)
        _check_guests_addresses(study, study.vms)
        if study.vms.huge_pages and 0 in study.factors.vms_per_host:
            raise FaultyKeyError(
                "vms.huge_pages are kept for guests: the bare host of density 0 would have less memory than "
                "them; remove huge_pages, or 0 from vms_per_host",
                *("vms", "huge_pages"),
            )
        check_workers(study)
        if study.stack.replication > 1 and len(worker_hosts(study)) == 1:
            raise FaultyKeyError(
                f"stack.replication {study.stack.replication} with one worker host would put all replicas of "
                "a block on it, and lose them together; write replication: 1, or add hosts",
                *REPLICATION,
            )


def _check_declared(host: HostSpec, index: int) -> None:
    """A plan does not contact libvirt hosts, so that it cannot resolve `auto`."""
    values: dict[tuple[str | int, ...], object] = {("cores",): host.cores, ("memory",): host.memory}
    for number, disk in enumerate(host.disks):
        values |= {
            ("disks", number, "path"): disk.path,
            ("disks", number, "disk_type"): disk.disk_type,
        }
    for key, value in values.items():
        if value == "auto":
            raise FaultyKeyError(
                f"host {host.name!r}: {key[-1]} is auto; with provider libvirt a plan contacts no host, so "
                "write the actual value (guests verify the disk type before the first trial)",
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


RULES = LibvirtRules("libvirt")
