"""Facts about this machine as the kernel reports them: for the disclosure, or "unknown", and its CPUs.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from density_study.cluster.model.dividing.cpus import Cpus, NumaNode, cpus_in

UNKNOWN = "unknown"
SYSTEM = Path("/sys/devices/system")
KVM = Path("/dev/kvm")
HUGE_PAGES = Path("/sys/kernel/mm/hugepages")
MOUNTS = Path("/proc/mounts")
_ESCAPED = re.compile(rb"\\([0-3][0-7]{2})")


def describe_machine() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()} {platform.version()}",
        "architecture": platform.machine(),
        "cpu_model": _line_value(Path("/proc/cpuinfo"), "model name"),
        "cores": os.cpu_count(),
        "memory_mib": int(_line_value(Path("/proc/meminfo"), "MemTotal").split()[0]) // 1024,
    }


def available_memory_mib() -> int:
    """Memory available without swapping, as the kernel estimates it."""
    return int(_line_value(Path("/proc/meminfo"), "MemAvailable").split()[0]) // 1024


def describe_disk(path: str) -> dict[str, Any]:
    """Filesystem, device and rotational flag of what holds `path`."""
    device, mount, filesystem, _ = mount_of(Path(path).resolve())
    queue = queue_of(Path(mount))
    return {
        "device": device,
        "mount": mount,
        "filesystem": filesystem,
        "rotational": _text(queue / "rotational") if queue else UNKNOWN,
    }


def describe_guest_host(folders: Sequence[str], bridge: str) -> dict[str, Any]:
    """For a host of VMs: which of the folders are neither there nor on a disk of their own, whether there is
    the bridge, why there can be no KVM (empty: nothing is known against it), and the number of free huge
    pages by their size in KiB, and those of a NUMA node by its number too: 2048 and 0/2048."""
    return {
        "missing": [folder for folder in folders if not _is_place(Path(folder))],
        "bridge": not bridge or Path("/sys/class/net", bridge, "bridge").is_dir(),
        "no_kvm": _no_kvm(),
        "huge_pages": dict(_huge_pages()),
    }


def _huge_pages() -> Iterator[tuple[str, int]]:
    for folder in HUGE_PAGES.glob("hugepages-*kB"):
        kib = folder.name.removeprefix("hugepages-").removesuffix("kB")
        yield kib, _free_pages(folder)
        for free in (SYSTEM / "node").glob(f"node[0-9]*/hugepages/{folder.name}/free_hugepages"):
            yield f"{free.parts[-4].removeprefix('node')}/{kib}", int(free.read_text())


def _free_pages(folder: Path) -> int:
    """Without those that a program has reserved and not touched yet, which the kernel still calls free.

    Source: Documentation/admin-guide/mm/hugetlbpage.rst of Linux.
    """
    free, reserved = (int((folder / f"{one}_hugepages").read_text()) for one in ("free", "resv"))
    return max(0, free - reserved)


def _is_place(folder: Path) -> bool:
    return folder.is_dir() or (folder.parent != Path("/") and folder.parent.is_mount())


def _no_kvm() -> str:
    flags = _line_value(Path("/proc/cpuinfo"), "flags").split()
    if not {"vmx", "svm"} & set(flags):
        return "its CPUs show neither vmx nor svm"
    return "" if KVM.exists() else f"there is no {KVM}"


def read_cpus(usable: Collection[int] | None = None, system: Path = SYSTEM) -> Cpus:
    """For the CPUs that this process may use; empty if the kernel does not say which belong to which core."""
    usable = os.sched_getaffinity(0) if usable is None else usable
    nodes = {int(f.name[4:]): f / "cpulist" for f in (system / "node").glob("node[0-9]*")}
    found = []
    for number, listed in sorted(nodes.items()):
        cpus = [cpu for cpu in cpus_in(listed.read_text()) if cpu in usable]
        try:
            cores = dict.fromkeys(_core(system, cpu, usable) for cpu in cpus)
        except OSError:
            return ()
        if cores:
            found.append(NumaNode(number, tuple(cores)))
    return tuple(found)


def _core(system: Path, cpu: int, usable: Collection[int]) -> tuple[int, ...]:
    """The usable CPUs of its core."""
    siblings = system / "cpu" / f"cpu{cpu}" / "topology" / "thread_siblings_list"
    return tuple(one for one in cpus_in(siblings.read_text()) if one in usable)


def mounts(file: Path) -> Iterator[tuple[str, str, str, str]]:
    """Device, mount point, filesystem and options of each mount. A name may have any bytes: every user can
    mount something by FUSE."""
    for line in file.read_bytes().split(b"\n"):
        fields = [_ESCAPED.sub(_byte, field) for field in line.split(b" ")]
        if len(fields) >= 4:
            device, mount, filesystem, options = map(os.fsdecode, fields[:4])
            yield device, mount, filesystem, options


def _byte(escaped: re.Match[bytes]) -> bytes:
    return bytes([int(escaped[1], 8)])


def mount_of(path: Path) -> tuple[str, str, str, str]:
    """Device, mount point, filesystem and options of what holds the path."""
    holding = [row for row in mounts(MOUNTS) if path.is_relative_to(row[1])]
    # The longest mount point holds the path; among equals the last mount hides the others.
    longest = max(enumerate(holding), key=lambda item: (len(item[1][1]), item[0]))
    device, mount, filesystem, options = longest[1]
    return device, mount, filesystem, options


def queue_of(mount: Path) -> Path | None:
    """The device's queue folder in /sys; for a partition, its disk's. None if it is not a block device, or if
    /sys/dev is closed to this user, as in a container of podman."""
    number = mount.stat().st_dev
    try:
        block = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return None
    queues = [folder / "queue" for folder in (block, block.parent) if (folder / "queue").is_dir()]
    return queues[0] if queues else None


def _line_value(file: Path, key: str) -> str:
    for line in file.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return UNKNOWN


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return UNKNOWN
