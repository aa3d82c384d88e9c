"""From the study's hosts to hosts with nothing left open: `auto` becomes what this machine has."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from cluster.errors import InputError
from cluster.host import Disk, Host, IoLimits, Login, Medium
from cluster.libvirt import programs as guests_need
from cluster.medium import Probe, probe
from cluster.ssh.build import check_same_java
from cluster.ssh.channel import channel
from cluster.ssh.fan_out import on_all
from cluster.ssh.known_hosts import write_known_hosts
from cluster.ssh.programs import PHYSICAL, Asked, check_programs
from cluster.ssh.stack_copies import work_folder
from cluster.ssh.target import Target
from workloads.guests import KNOWN_HOSTS, declared_hosts, needs_ssh
from workloads.study import DiskSpec, HostSpec, SshSpec, Study

AUTO_MEMORY_SHARE = 0.5


@dataclass(frozen=True)
class _Machine:
    """What a host turned out to be. `auto_disk` is the folder that a disk path `auto` means."""

    cores: int
    memory_mib: int
    auto_disk: Path
    probe: Callable[[Path], Probe]
    login: Login | None = None


def resolve_hosts(study: Study, runs: Path) -> tuple[Host, ...]:
    """Hosts with cores, memory and proved media. InputError if a disk is not of the medium it says.

    Over SSH for hosts that are not this machine: their own disks are probed there. Hosts of provider
    libvirt are taken at their word: nothing is asked before something is to be built on them.
    """
    if study.provider == "libvirt":
        return declared_hosts(study, runs)
    if study.ssh is None or study.provider == "local":
        return tuple(_host(spec, _this_machine(runs)) for spec in study.hosts)
    machines = _machines(study, study.ssh, runs)
    return tuple(_host(spec, machines[spec.name]) for spec in study.hosts)


def _this_machine(runs: Path) -> _Machine:
    return _Machine(
        cores=len(os.sched_getaffinity(0)),
        memory_mib=psutil.virtual_memory().total // 2**20,
        auto_disk=runs.absolute(),
        probe=lambda folder: probe(folder),
    )


def _machines(study: Study, ssh: SshSpec, runs: Path) -> dict[str, _Machine]:
    """Every host asked at once. InputError if one cannot be signed on to, or their Java differs."""
    known_hosts = believe_hosts(study, runs)
    targets = _targets(study, ssh, known_hosts)
    check_programs([Asked(name, target, PHYSICAL) for name, target in targets.items()])
    java_home, java_version = check_same_java(
        on_all(targets, lambda _, target: channel(target).call("act", "java", []))
    )
    login = Login(ssh.user, ssh.port, str(known_hosts), java_home, java_version)

    def machine(_: str, target: Target) -> _Machine:
        found = channel(target).call("act", "describe", [])
        return _Machine(
            cores=found["cores"],
            memory_mib=found["memory_mib"],
            auto_disk=Path(work_folder(ssh.user) / "data"),
            probe=lambda folder: Probe(**channel(target).call("act", "probe", [str(folder)])),
            login=login,
        )

    return on_all(targets, machine)


def check_guest_hosts(study: Study, runs: Path) -> None:
    """InputError with every program that a study of guests lacks, on its hosts and on this machine."""
    signed_on = needs_ssh(study)
    targets = {}
    if signed_on and study.ssh is not None:
        targets = _targets(study, study.ssh, believe_hosts(study, runs))
    bare = PHYSICAL if 0 in study.factors.vms_per_host else ()
    hosts = [
        Asked(host.name, targets.get(host.name), (*guests_need.on_host(signed_on), *bare))
        for host in study.hosts
        if signed_on or (host.libvirt or "").startswith(guests_need.HERE)
    ]
    check_programs([guests_need.CONTROLLER, *hosts])


def _targets(study: Study, ssh: SshSpec, known_hosts: Path) -> dict[str, Target]:
    return {
        host.name: Target(host.name, host.address, ssh.port, ssh.user, str(known_hosts))
        for host in study.hosts
    }


def believe_hosts(study: Study, runs: Path) -> Path:
    """The study's own known_hosts, written anew: the keys of its hosts. InputError if one is unknown."""
    assert study.ssh is not None
    known_hosts = runs.absolute() / study.study / KNOWN_HOSTS
    write_known_hosts(
        Path(study.ssh.known_hosts).expanduser().absolute(),
        [(host.address, study.ssh.port) for host in study.hosts],
        known_hosts,
    )
    return known_hosts


def _host(spec: HostSpec, machine: _Machine) -> Host:
    return Host(
        name=spec.name,
        address=spec.address,
        cores=_cores(spec, machine.cores),
        memory_mib=_memory_mib(spec, machine.memory_mib),
        disks=tuple(_disk(disk, spec.name, machine) for disk in spec.disks),
        roles=spec.roles,
        usd_per_hour=spec.usd_per_hour,
        login=machine.login,
    )


def _cores(spec: HostSpec, usable: int) -> int:
    if spec.cores in ("auto", usable):
        return usable
    raise InputError(
        f"the study says {spec.cores} core(s); the machine has {usable}, and daemons cannot be held "
        "to fewer.",
        f"host {spec.name!r}, key cores",
        f"write cores: auto, or cores: {usable}.",
    )


def _memory_mib(spec: HostSpec, total_mib: int) -> int:
    if spec.memory == "auto":
        return int(total_mib * AUTO_MEMORY_SHARE)
    if spec.memory > total_mib:
        raise InputError(
            f"the study wants {spec.memory} MiB; the machine has {total_mib} MiB.",
            f"host {spec.name!r}, key memory",
            f"write at most memory: {total_mib} MiB, or memory: auto for half of it.",
        )
    return spec.memory


def _disk(spec: DiskSpec, host: str, machine: _Machine) -> Disk:
    folder = machine.auto_disk if spec.path == "auto" else Path(spec.path)
    if not folder.is_absolute():
        raise InputError(
            f"disk path {spec.path!r} is relative.",
            f"host {host!r}, key disks",
            "give an absolute folder on the disk, or auto for the disk of the runs folder.",
        )
    if spec.limits is not None and spec.medium != "auto":
        # What the disk itself is does not matter, as long as it can pass its limits: see emulation.
        limits = IoLimits(**spec.limits.model_dump())
        return Disk(str(folder), spec.medium, emulated=True, limits=limits)
    return _judged(spec, host, folder, machine.probe(folder))


def _judged(spec: DiskSpec, host: str, folder: Path, seen: Probe) -> Disk:
    """The disk, if it behaves like the medium the study says. InputError with the figure if not."""
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
