"""`HOST_COMMANDS`: functions that run on a node's machine, by name. They return JSON values.

Standard library only: for `local` they run in this process, for other hosts in the agent over SSH.
"""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from density_study.cluster.machine import (
    container_needs,
    containers,
    directories,
    genomics,
    io_limits,
    network_cut,
    network_link,
    packet_cpus,
    page_cache,
)
from density_study.cluster.machine.describe import (
    available_memory_mib,
    describe_disk,
    describe_guest_host,
    describe_machine,
)
from density_study.cluster.machine.disk_type import check_disk, probe, read_rate
from density_study.cluster.machine.energy import energy_fault
from density_study.cluster.machine.equality import quiet
from density_study.cluster.machine.equality.reading import read_facts
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.machine.sockets import (
    answer_at,
    check_free,
    is_taken,
    listener,
    not_reached,
)
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.stack.java import check_home, find_java, refusal
from density_study.cluster.stack.machine_program import find_program
from density_study.cluster.state.tags import tagged

_SWEEPS = 5


def _describe() -> dict[str, Any]:
    """Facts about the machine, and the user, Python and service manager on it."""
    return {
        **describe_machine(),
        "user": getpass.getuser(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "systemd": Path("/run/systemd/system").is_dir(),
    }


def _java(feature: int | None = None) -> dict[str, str]:
    java = find_java(feature=feature)
    return {"home": str(java.home), "version": java.version}


def disk_free_mib(folder: str) -> int:
    """Free space of the disk that holds, or will hold, `folder`."""
    return shutil.disk_usage(_existing(folder)).free // 2**20


def free_disks(folders: Sequence[str]) -> dict[str, list[int]]:
    """For each folder, `disk_free_mib` and the number of its file system's device: folders with one number
    share the space."""
    return {one: [disk_free_mib(one), _existing(one).stat().st_dev] for one in folders}


def _existing(folder: str) -> Path:
    path = Path(folder)
    return next(place for place in (path, *path.parents) if place.exists())


def _stop_tagged(tag: str, grace_s: float) -> list[dict[str, Any]]:
    """Stop every process of the tag, in several sweeps: a dying NodeManager may still start processes,
    which the next sweep finds."""
    stopped = []
    for _ in range(_SWEEPS):
        processes = tagged(tag)
        if not processes:
            break
        stop_all(processes, grace_s)
        stopped += [asdict(process) for process in processes]
    return stopped


def _pressure_fault() -> str:
    """Why the kernel tells no pressure stall information; empty if it does."""
    try:
        Path("/proc/pressure/io").read_text()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _count_lines(path: str, texts: Sequence[str]) -> int:
    """Lines of a text file that contain one of the `texts`."""
    with Path(path).open(encoding="utf-8", errors="replace") as lines:
        return sum(any(text in line for text in texts) for line in lines)


def _listening(addresses: Sequence[Sequence[Any]], tag: str) -> list[list[Any]]:
    """The `addresses` on which a process of the tag listens."""
    ours = {process.pid for process in tagged(tag)}
    return [[h, p] for h, p in addresses if is_taken((h, p)) and listener(p) in ours]


TAIL_BYTES = 2**16


def _tail(path: str) -> str:
    """The last lines of a file that is being written, the first one perhaps torn; empty before it exists."""
    with suppress(FileNotFoundError), Path(path).open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        return file.read(TAIL_BYTES).decode("utf-8", "replace")
    return ""


HOST_COMMANDS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "add-route": containers.add_route,
        "answer-at": answer_at,
        "available-memory-mib": available_memory_mib,
        "check-cut": network_cut.check_nft,
        "check-e-coli": genomics.check_e_coli,
        "check-genomics": genomics.check_programs,
        "check-containers": container_needs.check_machine,
        "check-disk": lambda folder: check_disk(Path(folder)),
        "check-java": check_home,
        "check-network": network_link.check,
        "check-network-kernel": network_link.check_kernel,
        "check-programs": directories.check_programs,
        "check-quiet": quiet.check,
        "check-routes": container_needs.check_routes,
        "check-slow-disk": io_limits.cgroup_version,
        "check-free": lambda addresses: check_free(map(tuple, addresses)),
        "clock": time.time,
        "container-facts": containers.facts,
        "containers-spent": containers.spent,
        "count-lines": _count_lines,
        "describe": _describe,
        "describe-disk": describe_disk,
        "dirs-there": lambda paths: list(filter(directories.may_be_there, paths)),
        "facts": read_facts,
        "find-containers": containers.find,
        "find-program": find_program,
        "files-changed": packet_cpus.changed,
        "flow-table": packet_cpus.flow_table,
        "free-disks": free_disks,
        "free-mib": disk_free_mib,
        "guest-host": describe_guest_host,
        "io-bytes": page_cache.io_bytes,
        "java": _java,
        "jvm-refusal": refusal,
        "is-cut": network_cut.is_cut,
        "kill": lambda processes: stop_all([ProcessId(*one) for one in processes], 0.0),
        "listening": _listening,
        "make-bridge": containers.make_bridge,
        "make-container-network": containers.make_network,
        "make-dir": lambda path, tag: directories.make_at(Path(path), tag),
        "make-folder": lambda path: Path(path).mkdir(parents=True, exist_ok=True),
        "make-quiet": quiet.make_quiet,
        "mend": network_cut.mend,
        "network-changed": network_link.changed,
        "network-device": network_link.device_of,
        "network-state": network_link.state,
        "noise-changed": quiet.changed,
        "noisy": quiet.noisy,
        "not-reached": not_reached,
        "energy": energy_fault,
        "pressure": _pressure_fault,
        "probe": lambda folder: asdict(probe(Path(folder))),
        "read-rate": lambda folder, *args: read_rate(Path(folder), *args),
        "remove-containers": containers.remove,
        "remove-dir": lambda path, tag: directories.remove_at(Path(path), tag),
        "restore-files": packet_cpus.restore,
        "restore-noise": quiet.restore,
        "restore-network": network_link.restore,
        "set-network": network_link.apply,
        "shape-container": containers.shape,
        "start-container": containers.start,
        "stop-tagged": _stop_tagged,
        "tail": _tail,
        "tagged": lambda tag: [asdict(process) for process in tagged(tag)],
        "unreached": containers.unreached,
        "unwritten-bytes": page_cache.unwritten_bytes,
        "way-to": container_needs.way_to,
    }
)
