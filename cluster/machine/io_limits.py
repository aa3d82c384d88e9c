"""An emulated disk for processes on this machine: one cgroup per disk, with limits on its device.

Needs root. cgroup v1 limits reads and direct writes, but not buffered writes: the kernel writes those
later, outside the cgroup. cgroup v2 limits both if the io controller is enabled.
Standard library only: it runs wherever the local transport does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.model.errors import InputError

if TYPE_CHECKING:
    from density_study.cluster.model.host import IoLimits
    from density_study.cluster.model.topology import Node

ROOT = Path("/sys/fs/cgroup")
_LIMITS = {
    "read_iops_sec": ("blkio.throttle.read_iops_device", "riops"),
    "write_iops_sec": ("blkio.throttle.write_iops_device", "wiops"),
    "read_bytes_sec": ("blkio.throttle.read_bps_device", "rbps"),
    "write_bytes_sec": ("blkio.throttle.write_bps_device", "wbps"),
}
"""libvirt's name of a limit -> file of cgroup v1, key in io.max of cgroup v2."""
HELD_BACK = {1: "reads and direct writes; buffered writes are not", 2: "reads and writes"}
"""What the limits hold back, by the version of cgroups."""


def cgroup_version(root: Path = ROOT) -> int:
    """The version of cgroups that limit I/O here. InputError if this user or this kernel has none."""
    blkio = root / "blkio"
    if (blkio / "cgroup.procs").exists() and os.access(blkio, os.W_OK):
        return 1
    enabled = root / "cgroup.subtree_control"
    if enabled.exists() and "io" in enabled.read_text().split() and os.access(root, os.W_OK):
        return 2
    raise InputError(
        "this user has no cgroup that can limit I/O on this machine.",
        "key disks, limits",
        "run as root with the blkio (v1) or io (v2) controller enabled, or omit the limits.",
    )


def group(tag: str, disk: str, root: Path = ROOT) -> Path:
    """The cgroup of all workers of a build on the same drives (`Node.lead_drive`): they share the limits, as
    on real drives."""
    name = re.sub(r"[^A-Za-z0-9.-]", ".", f"{tag}{disk}")
    parent = root / "blkio" if (root / "blkio" / "cgroup.procs").exists() else root
    return parent / f"density-study.{name}"


def group_of(pid: int) -> Path:
    """The cgroup that limits the I/O of a process now."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return ROOT / "blkio" / path.lstrip("/")
        if not controllers and not (ROOT / "blkio").is_dir():
            return ROOT / path.lstrip("/")
    raise InputError(
        f"process {pid} is in no cgroup that can limit I/O.",
        f"/proc/{pid}/cgroup",
        "mount cgroups with the controller io or blkio: `mount -t cgroup2 none /sys/fs/cgroup`.",
    )


def make(path: Path, disk: Path, limits: IoLimits, root: Path = ROOT) -> str:
    """Create the cgroup; returns a description of what it limits."""
    version = cgroup_version(root)
    number = disk.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    path.mkdir(exist_ok=True)
    wanted = [(*_LIMITS[name], value) for name, value in limits.iotune().items()]
    if version == 1:
        for file, _, value in wanted:
            (path / file).write_text(f"{device} {value}\n")
        return HELD_BACK[version]
    pairs = " ".join(f"{key}={value}" for _, key, value in wanted)
    (path / "io.max").write_text(f"{device} {pairs}\n")
    return HELD_BACK[version]


def join(path: Path, pid: int) -> None:
    """Move a process into the cgroup; its later children also belong to it."""
    (path / "cgroup.procs").write_text(f"{pid}\n")


class LimitedReads:
    """Runs `read-rate` in a separate process inside the cgroup, with the interface of `Transport.act`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        given = [
            sys.executable,
            "-m",
            "density_study.cluster.machine.disk_type",
            *map(str, arguments),
        ]
        enter = 'echo $$ > "$1" && shift && exec "$@"'
        argv = ["sh", "-c", enter, "sh", str(self._path / "cgroup.procs"), *given]
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=True)
        return json.loads(done.stdout)


def remove(path: Path) -> None:
    """Remove the cgroup if it exists and has no processes left."""
    try:
        path.rmdir()
    except OSError:
        return  # `leftovers` reports it
