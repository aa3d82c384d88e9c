"""Preflight: everything that can be known to go wrong, before anything is started."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from cluster.model.errors import InputError
from cluster.model.host import Host
from cluster.model.ports import allocate_ports
from cluster.providers.provider import Capacity, FreeResources, provider_of
from cluster.providers.stacks import ensure_stacks
from cluster.stack import ensure
from workloads.planning.plan import Plan
from workloads.spec.settings import DfsioSetting, Setting
from workloads.spec.study import Study

LOGS_MIB = 512


def disk_need_mib(study: Study) -> int:
    """The most the study holds on disk at once: a build's data (removed after it) and all logs."""
    largest: dict[str, float] = {}
    for setting in study.settings():
        name, stored_mib = _stored(setting, study.stack.replication)
        largest[name] = max(largest.get(name, 0.0), stored_mib)
    return int(sum(largest.values())) + LOGS_MIB


def _stored(setting: Setting, replication: int) -> tuple[str, float]:
    """Which data the setting works on, and how much of the disks they take, copies included."""
    if isinstance(setting, DfsioSetting):
        return f"testdfsio {setting.data_set}", setting.disk_mib * setting.copies(replication)
    return setting.workload, setting.disk_mib * replication


def disks_too_small(study: Study, plan: Plan, runs: Path) -> Iterator[str]:
    """What `preflight` would say of this machine's disks now: of provider local, others are not asked."""
    if study.provider != "local":
        return
    hosts = next(iter(plan.topologies.values())).hosts
    disks_mib = {disk.path: _free_mib(Path(disk.path)) for host in hosts for disk in host.disks}
    for folder, free_mib in (disks_mib | _runs_disk(runs.absolute())).items():
        if free_mib < (need_mib := disk_need_mib(study)):
            yield (
                f"disk {folder} has {free_mib:,} MiB free, the study will write up to {need_mib:,} MiB: "
                "`study run` refuses it"
            )


def preflight(study: Study, plan: Plan, runs: Path) -> None:
    """Raise InputError for the first thing this machine lacks. Starts nothing."""
    need_mib = disk_need_mib(study)
    for topology in plan.topologies.values():
        provider = provider_of(topology.provider)
        if not isinstance(provider, Capacity):
            continue
        free = provider.free_resources(topology)
        for host in topology.hosts:
            if host.name in free:
                _check_memory(host, free[host.name])
                _check_disks(host, {**free[host.name].disks_mib, **_runs_disk(runs)}, need_mib)
        provider.check_ports(topology, allocate_ports(topology))
    dool_path()
    ensure_software()


def ensure_software() -> None:
    """Java and the three stacks, assembled if the cache does not hold them. InputError otherwise."""
    ensure_stacks()
    ensure("ycsb")


def _check_memory(host: Host, room: FreeResources) -> None:
    # With guests a host's reserve is its own: others may have taken it.
    used_mib = host.memory_mib - (host.vms.reserve_mib if host.vms else 0)
    if used_mib > room.memory_mib:
        raise InputError(
            f"the study uses {used_mib} MiB; only {room.memory_mib} MiB are free now.",
            f"host {host.name!r}, key memory",
            "stop what takes the memory, or give the study less.",
        )


def _check_disks(host: Host, disks_mib: Mapping[str, int], need_mib: int) -> None:
    for folder, free_mib in disks_mib.items():
        if free_mib < need_mib:
            raise InputError(
                f"the study will write up to {need_mib} MiB; {free_mib} MiB are free.",
                f"host {host.name!r}, disk {folder}",
                "free some space, name another disk, or make files, file_size or records smaller.",
            )


def _runs_disk(runs: Path) -> dict[str, int]:
    """The controller's own: logs and records."""
    return {str(runs): _free_mib(runs)}


def _free_mib(folder: Path) -> int:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    return shutil.disk_usage(existing).free // 2**20


def dool_path() -> str:
    """The locked environment's dool. InputError if it is missing."""
    for place in _dool_places():
        if os.access(place, os.X_OK):
            return str(place)
    raise InputError(
        "the monitor dool is not installed.",
        "monitor.tool dool",
        "run `make setup`, which installs it with everything else.",
    )


def _dool_places() -> Iterator[Path]:
    yield Path(sys.executable).with_name("dool")
    found = shutil.which("dool")
    if found:
        yield Path(found)
