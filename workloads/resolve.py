"""From the study's hosts to hosts with nothing left open: `auto` becomes what this machine has."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from cluster.errors import InputError
from cluster.host import Disk, Host, Medium
from cluster.medium import probe
from workloads.study import DiskSpec, HostSpec, Study

AUTO_MEMORY_SHARE = 0.5


def resolve_hosts(study: Study, runs: Path) -> tuple[Host, ...]:
    """Hosts with cores, memory and proved media. InputError if a disk is not of the medium it says."""
    return tuple(_host(spec, runs) for spec in study.hosts)


def _host(spec: HostSpec, runs: Path) -> Host:
    return Host(
        name=spec.name,
        address=spec.address,
        cores=_cores(spec),
        memory_mib=_memory_mib(spec),
        disks=tuple(_disk(disk, spec.name, runs) for disk in spec.disks),
        roles=spec.roles,
        usd_per_hour=spec.usd_per_hour,
    )


def _cores(spec: HostSpec) -> int:
    usable = len(os.sched_getaffinity(0))
    if spec.cores == "auto":
        return usable
    if spec.cores != usable:
        raise InputError(
            f"the study says {spec.cores} core(s); this machine has {usable}, and provider local "
            "cannot hold daemons to fewer.",
            f"host {spec.name!r}, key cores",
            f"write cores: auto, or cores: {usable}.",
        )
    return spec.cores


def _memory_mib(spec: HostSpec) -> int:
    total_mib = psutil.virtual_memory().total // 2**20
    if spec.memory == "auto":
        return int(total_mib * AUTO_MEMORY_SHARE)
    if spec.memory > total_mib:
        raise InputError(
            f"the study wants {spec.memory} MiB; this machine has {total_mib} MiB.",
            f"host {spec.name!r}, key memory",
            f"write at most memory: {total_mib} MiB, or memory: auto for half of it.",
        )
    return spec.memory


def _disk(spec: DiskSpec, host: str, runs: Path) -> Disk:
    folder = runs.absolute() if spec.path == "auto" else Path(spec.path)
    if not folder.is_absolute():
        raise InputError(
            f"disk path {spec.path!r} is relative.",
            f"host {host!r}, key disks",
            "give an absolute folder on the disk, or auto for the disk of the runs folder.",
        )
    seen = probe(folder)
    if seen.medium is None and spec.medium == "auto":
        raise InputError(
            f"a random 4 KiB read took {seen.random_4k_read_ms:.2f} ms, neither flash nor hdd.",
            f"host {host!r}, disk {folder}",
            "say its medium in the study, or try again when the disk is idle.",
        )
    if spec.medium not in ("auto", seen.medium) and seen.medium is not None:
        raise InputError(
            f"the study says {spec.medium}, but a random 4 KiB read took "
            f"{seen.random_4k_read_ms:.2f} ms, like {seen.medium}.",
            f"host {host!r}, disk {folder}",
            f"write medium: {seen.medium} or auto, or name a disk that is {spec.medium}.",
        )
    medium: Medium = seen.medium if spec.medium == "auto" else spec.medium  # type: ignore[assignment]
    return Disk(str(folder), medium)
