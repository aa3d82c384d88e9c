"""What the kernel counts for a container, and where: its cgroups, of version 1 or 2.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from density_study.cluster.machine.io_limits import ROOT

NEEDED = ("cpu", "memory")


def version(root: Path = ROOT) -> int:
    """1 where memory has a hierarchy of its own, 2 where one hierarchy has all controllers."""
    return 1 if (root / "memory" / "cgroup.procs").exists() else 2


def missing(controllers: tuple[str, ...], root: Path = ROOT) -> list[str]:
    """The controllers that containers on this host cannot have."""
    if version(root) == 1:
        return [one for one in controllers if not (root / one / "cgroup.procs").exists()]
    there = root / "cgroup.controllers"
    enabled = there.read_text().split() if there.exists() else []
    return [one for one in controllers if one not in enabled]


def groups(container: str, root: Path = ROOT) -> list[Path]:
    """The existing cgroup folders of the container, one per hierarchy."""
    found = (root / container, *sorted(root.glob(f"*/{container}")))
    return [path for path in found if path.is_dir() and not path.parent.is_symlink()]


def controller(name: str, container: str, root: Path = ROOT) -> Path:
    """The container's cgroup that has the controller."""
    return root / name / container if version(root) == 1 else root / container


def spent(container: str, root: Path = ROOT) -> dict[str, float]:
    """Since it was made: its CPU time, the time for which its quota stopped it, and its processes killed for
    want of memory. OSError if it does not exist."""
    memory = controller("memory", container, root)
    cpu = _counters((controller("cpu", container, root) / "cpu.stat").read_text())
    if version(root) == 2:
        killed = _counters((memory / "memory.events").read_text())
        used_s, waited_s = cpu["usage_usec"] / 1e6, cpu.get("throttled_usec", 0) / 1e6
    else:
        killed = _counters((memory / "memory.oom_control").read_text())
        used_ns = (controller("cpuacct", container, root) / "cpuacct.usage").read_text()
        used_s, waited_s = int(used_ns) / 1e9, cpu.get("throttled_time", 0) / 1e9
    return {"cpu_s": used_s, "waited_s": waited_s, "out_of_memory": killed.get("oom_kill", 0)}


def _counters(text: str) -> Mapping[str, int]:
    """Lines of a name and a number."""
    pairs = (line.split() for line in text.splitlines())
    return {name: int(value) for name, value in pairs}
