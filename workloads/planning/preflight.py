"""Preflight checks: memory, disks, ports and software, before anything starts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path

from density_study.cluster.lifecycle.needed import (
    COUNTED,
    check_device,
    check_existing,
    exposed,
    software,
)
from density_study.cluster.lifecycle.quiet_hosts import check_quiet
from density_study.cluster.machine.host_commands import free_disks
from density_study.cluster.model.errors import InputError, StudyError, do_all, together
from density_study.cluster.model.host import Host
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.topology import ExistingTopology, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import FreeResources, NamedCheck, provider_of
from density_study.cluster.providers.ssh.acting import UNASKED, act_on
from density_study.cluster.stack import ensure
from density_study.cluster.state.limits import check_limits
from density_study.cluster.stores.store import cluster_store
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.room import LOGS_MIB, RECORD_MIB, Written
from density_study.workloads.study.factors.store import STORE
from density_study.workloads.study.study import Study


@dataclass(frozen=True)
class Check:
    """A line of the checklist. `fault` says what `study run` would reject, None if nothing; `warning`, what
    it would not reject, and its user should know."""

    name: str
    fault: StudyError | None = None
    warning: str = ""


Report = Callable[[Check], None]


def disk_need_mib(study: Study) -> int:
    """Maximum disk space of the study: all data of one build (removed with it), and all logs."""
    data_mib, each_mib = _data_mib(study)
    return data_mib + each_mib + LOGS_MIB


def _data_mib(study: Study) -> tuple[int, int]:
    """Data of one build on all disks together, and what every disk holds however little is written."""
    largest: dict[str, float] = {}
    for test_case in study.test_cases():
        data_set, used_mib = test_case.disk_use(study.stack.replication)
        largest[data_set] = max(largest.get(data_set, 0.0), used_mib)
    at_once = 1 if study.duet is None else 2
    data_mib = at_once * int(sum(largest.values()))
    return data_mib, _of_stores_mib(study, data_mib) + at_once * _cache_files_mib(study)


def _of_stores_mib(study: Study, data_mib: int) -> int:
    """What stores need beyond HBase."""
    stores = (one.store for one in (study.store, *study.factors.of(STORE).values()))
    nodes, shapes = max(1, *study.factors.vms_per_host), [s.table_shape for s in study.test_cases()]
    return max(cluster_store(one).more_disk_mib(data_mib, nodes, shapes) for one in stores)


def _cache_files_mib(study: Study) -> int:
    """The block caches that are files, of all RegionServers of a host."""
    nodes: int = max(1, *study.factors.vms_per_host)
    servers: int = max(study.factors.regionservers_per_node)
    variants = study.factors.variants(Variant(nodes, servers, "flash"))
    caches = [variant.configuration.block_cache for variant in variants]
    sizes = [cache.size_mib for cache in caches if cache and cache.engine in ("file", "mmap")]
    return max(sizes, default=0) * nodes * servers


def disks_too_small(study: Study, plan: Plan, runs: Path) -> Iterator[str]:
    """Warnings about disks that `preflight` would reject now: those of guests, and on this machine. Other
    hosts are not contacted."""
    most = written(study, plan, runs.absolute())
    for topology in plan.built:
        try:
            _check_data_disks(topology, most)
        except InputError as error:
            yield f"{error.where}: {error.what} `study run` will reject it: {error.remedy}"
            break
    found = {}
    for topology in plan.built:
        if not (topology.provider.here and topology.provider.shares_hosts):
            continue
        for host in topology.hosts:
            folders = [*(disk.path for disk in host.disks), str(runs.absolute())]
            room = FreeResources.of(0, free_disks(folders))
            for which, free_mib, need_mib in _too_small(host, room, topology, most):
                found[which] = (
                    f"{which} has {free_mib:,} MiB free and the study writes up to {need_mib:,} MiB there: "
                    "`study run` will reject it"
                )
    yield from found.values()


def written(study: Study, plan: Plan, runs: Path) -> Written:
    return Written(*_data_mib(study), LOGS_MIB + RECORD_MIB * len(plan.trials), runs)


def preflight(study: Study, plan: Plan, runs: Path, tag: str, report: Report | None = None) -> None:
    """InputError for the resources or programs that are missing: for the first, if `report` gets all. Starts
    nothing."""
    faults = []
    for check in checks(study, plan, runs, tag):
        if report is not None:
            report(check)
        if check.fault is not None:
            faults.append(check.fault)
    if faults:
        raise faults[0] if report is not None else together(faults)


def checks(study: Study, plan: Plan, runs: Path, tag: str) -> Iterator[Check]:
    """Every check of a run named `tag`, in order, whatever the others find. Starts nothing."""
    for name, act in _acts(study, plan, runs, tag):
        yield tried(name, act)
    if warning := exposed(plan.topologies.values()):
        yield Check("other users of this machine", warning=warning)
    yield from _shared_drives(plan.built[:1])


def _shared_drives(topologies: Sequence[Topology]) -> Iterator[Check]:
    """Warnings about drives of a study that are one: nested folders, or one device mounted twice."""
    for topology in topologies:
        with suppress(StudyError, OSError):  # an earlier check has reported it
            for name, room in provider_of(topology).free_resources(topology).items():
                host = next(one for one in topology.hosts if one.name == name)
                drives = {disk.path for disk in host.disks if not disk.emulated}
                for folders in room.shared():
                    if len(same := [one for one in folders if one in drives]) > 1:
                        yield Check(
                            f"drives of {name}",
                            warning=f"{' and '.join(same)} are on one device: the study counts {len(same)} "
                            "drives, and there is one; name one of them",
                        )


def tried(name: str, act: Callable[[], object]) -> Check:
    try:
        act()
    except StudyError as fault:
        return Check(name, fault)
    return Check(name)


def _acts(study: Study, plan: Plan, runs: Path, tag: str) -> Iterator[NamedCheck]:
    topologies = tuple(plan.topologies.values())
    most = written(study, plan, runs)
    yield "limits of this shell", check_limits
    for topology in plan.built:
        yield (
            f"memory and disks of {topology.name}",
            partial(_check_room, topology, most, plan.builds_at_once),
        )
        if topology.provider.shares_hosts:
            ports = allocate_ports(topology)
            check = partial(provider_of(topology).check_ports, topology, ports)
            yield f"ports of {topology.name}", check
    yield "dool", dool_path
    if "profile" in study.monitor.also:
        yield "async-profiler", partial(ensure, "profiler")
    if "jfr" in study.monitor.also:
        yield "rules of JDK Mission Control", partial(ensure, "flightrules")
    hosts = {host.name: host for topology in topologies for host in topology.hosts}
    for device in (one for one in COUNTED if one in study.monitor.also):
        for host in hosts.values():
            unknown = "" if act_on(host) else f" (unknown of a host {UNASKED})"
            yield (
                f"{COUNTED[device][0]} of {host.name}{unknown}",
                partial(check_device, device, host),
            )
    if study.quiet:
        hosts = {host.name: host for topology in plan.built for host in topology.occupied}
        for host in hosts.values():
            yield f"{host.name} can be made quiet", partial(check_quiet, host)
    for existing in topologies:
        if isinstance(existing, ExistingTopology):
            which = ", ".join(existing.levels.values()) or "the cluster"
            known = "version of Hadoop" if existing.store.hadoop else "durability"
            yield (
                f"{which} answers, and its {known} is known",
                partial(check_existing, existing, disk_need_mib(study), plan.estimate_s),
            )
    if plan.built:
        yield from software(plan.built, study.stack.versions)
        yield from _of_hosts(study, plan.built, tag)


def _of_hosts(study: Study, topologies: Sequence[Topology], tag: str) -> Iterator[NamedCheck]:
    test_cases = study.test_cases()
    for topology in topologies:
        able = (test_case for test_case in test_cases if not test_case.obstacle(topology))
        for command in dict.fromkeys(one for s in able for one in s.needs_of_workers):
            yield from provider_of(topology).worker_checks(topology, command)
    for topology in topologies:
        yield from provider_of(topology).checks(topology, tag)


def _check_room(topology: Topology, most: Written, at_once: int = 1) -> None:
    """InputError names each host and disk with too little."""

    def check_free() -> None:
        free = provider_of(topology).free_resources(topology)
        faults = [
            fault
            for host in topology.hosts
            if host.name in free
            for fault in _lacking(host, free[host.name], topology, most, at_once)
        ]
        if faults:
            raise together(faults)

    do_all(partial(_check_data_disks, topology, most), check_free)


def _lacking(
    host: Host, there: FreeResources, topology: Topology, most: Written, at_once: int
) -> Iterator[InputError]:
    yield from _short_of_memory(host, there, at_once)
    # the controller's disk, which holds logs and records, is the host's if they are one machine
    here = FreeResources.of(0, free_disks([str(most.runs)]))
    devices = {**there.devices, **(here.devices if topology.provider.here else {})}
    disks_mib = {**there.disks_mib, **here.disks_mib}
    for folder, size_mib in topology.in_memory_mib(host).items():
        yield from _short_in_memory(host, folder, disks_mib.pop(folder), at_once * size_mib)
    room = FreeResources(there.memory_mib, disks_mib, devices)
    for which, free_mib, need_mib in _too_small(host, room, topology, most):
        yield InputError(
            f"the study writes up to {need_mib} MiB there; {free_mib} MiB are free.",
            f"host {host.name!r}, {which}",
            "free some space, choose another disk, or reduce files, file_size or records.",
        )


def _check_data_disks(topology: Topology, most: Written) -> None:
    """InputError names each host on which the data disks of guests are smaller than what they will hold."""
    guests = {
        host: host.vms for host in topology.hosts if topology.variant.vms_per_host and host.vms
    }
    small = {
        host.name: (need_mib, vms.data_gib)
        for host, vms in guests.items()
        if (
            need_mib := max(
                (most.on_mib(one.path, host, topology) for one in host.disks), default=0
            )
        )
        > vms.data_gib * 1024
    }
    if small:
        need_mib, data_gib = max(small.values())
        raise InputError(
            f"the study writes up to {need_mib:,} MiB to each of its drives, and the guests' data "
            f"disks may take {data_gib} GiB of each drive.",
            f"host {', '.join(map(repr, small))}, key vms.data_disk",
            f"write data_disk: {ceil(need_mib / 1024)} GiB, or reduce files, file_size or records.",
            ("vms", "data_disk"),
        )


def _short_of_memory(host: Host, room: FreeResources, at_once: int) -> Iterator[InputError]:
    # A guest host's reserve may be in use by others: the study does not need it.
    used_mib = host.memory_mib - (host.divided.reserve_mib if host.divided else 0)
    used_mib *= at_once
    if used_mib > room.memory_mib:
        yield InputError(
            f"the study needs {used_mib} MiB of memory; {room.memory_mib} MiB are free.",
            f"host {host.name!r}, key memory",
            "stop other programs, or reduce the study's memory.",
        )


def _too_small(
    host: Host, room: FreeResources, topology: Topology, most: Written
) -> Iterator[tuple[str, int, int]]:
    """Folders whose device has less room than what all of them will hold: which, MiB free, MiB needed."""
    for folders in room.shared():
        free_mib = min(room.disks_mib[folder] for folder in folders)
        need_mib = sum(most.taken_mib(folder, host, topology) for folder in folders)
        if free_mib < need_mib:
            one_device = " (one device)" if len(folders) > 1 else ""
            yield f"disk {' and '.join(folders)}{one_device}", free_mib, need_mib


def _short_in_memory(host: Host, folder: str, free_mib: int, size_mib: int) -> Iterator[InputError]:
    if free_mib < size_mib:
        yield InputError(
            f"its caches take {size_mib} MiB of {folder}; {free_mib} MiB are free.",
            f"host {host.name!r}, folder {folder} in memory",
            "make the tier smaller, or mount the folder with a larger size.",
            ("factors", "tier"),
        )


def dool_path() -> str:
    """Path of dool in the locked environment. InputError if it is missing."""
    own = str(Path(sys.executable).with_name("dool"))
    if found := shutil.which(own) or shutil.which("dool"):
        return found
    raise InputError(
        "the monitor dool is not installed.",
        "monitor.tool dool",
        "install this program again, with its dependencies.",
    )
