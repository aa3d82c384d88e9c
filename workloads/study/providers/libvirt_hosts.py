"""Hosts of provider libvirt as declared in the study, and the number of their guests. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from density_study.cluster.model.host import Disk, Host, VmHost
from density_study.workloads.study.providers.rules import known_hosts_of

if TYPE_CHECKING:
    from density_study.workloads.study.hosts_spec import DiskSpec, HostSpec
    from density_study.workloads.study.keys import StudyKeys


def needs_ssh(study: StudyKeys) -> bool:
    """Whether the hosts need an SSH login: as bare hosts, or because a host has no libvirt URI."""
    return 0 in study.factors.vms_per_host or any(host.libvirt is None for host in study.hosts)


def guests_on(study: StudyKeys, host: HostSpec) -> int:
    """Maximum number of guests on `host`. Master and client of one host share a guest."""
    workers = max(study.factors.vms_per_host) if "worker" in host.roles else 0
    return workers + _masters(study, host)


def declared_hosts(study: StudyKeys, runs: Path) -> tuple[Host, ...]:
    """The hosts as declared; none is contacted. Each receives its share of the guests' addresses."""
    assert study.vms is not None  # validated with the study
    addresses = iter(study.vms.range)
    return tuple(_host(study, host, runs, addresses) for host in study.hosts)


def _host(study: StudyKeys, spec: HostSpec, runs: Path, addresses: Iterator[str]) -> Host:
    known_hosts = str(known_hosts_of(study, runs))
    login = None if study.ssh is None else study.ssh.login(known_hosts)
    host = spec.host(int(spec.cores), int(spec.memory), map(_disk, spec.disks), login)
    return replace(host, vms=_vm_host(study, spec, known_hosts, addresses))


def _vm_host(
    study: StudyKeys, spec: HostSpec, known_hosts: str, addresses: Iterator[str]
) -> VmHost:
    vms = study.vms
    assert vms is not None
    return VmHost(
        uri=spec.libvirt or _uri(study, spec, known_hosts),
        addresses=tuple(next(addresses) for _ in range(guests_on(study, spec))),
        network=vms.network,
        host_address=vms.host_address if vms.bridge is None else None,
        bridge=vms.bridge,
        gateway=vms.gateway,
        vcpus=vms.vcpus,
        cache=vms.cache,
        reserve_mib=vms.host_reserve,
        data_gib=vms.data_disk // 1024,
        preallocated=vms.preallocated,
        huge_kib={None: 0, "2 MiB": 2048, "1 GiB": 1024**2}[vms.huge_pages],
        images=vms.images,
    )


def _uri(study: StudyKeys, spec: HostSpec, known_hosts: str) -> str:
    """URI over SSH with the study's login; accepts only host keys from the study's own file."""
    assert study.ssh is not None  # validated with the study
    port = "" if study.ssh.port == 22 else f":{study.ssh.port}"
    place = f"{study.ssh.user}@{spec.address}{port}"
    return f"qemu+ssh://{place}/system?known_hosts={quote(known_hosts)}"


def _disk(spec: DiskSpec) -> Disk:
    assert spec.disk_type != "auto"  # validated with the study
    return spec.disk(spec.path, spec.disk_type)


def _masters(study: StudyKeys, host: HostSpec) -> int:
    """Guests for master and client on `host`: one shared guest if it has both."""
    master = next(each.name for each in study.hosts if "master" in each.roles)
    return int(host.name == master or "client" in host.roles)
