"""How long CPU limits stopped the study's nodes, by cpu.stat of their processes' cgroups; what stopped its
daemons, see `daemon_states`.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from density_study.workloads.monitors.daemon_states import DaemonStates
from density_study.workloads.monitors.tagged_nodes import TaggedNodes

ROOT = Path("/")
_FILES = (
    "sys/fs/cgroup{path}/cpu.stat",
    "sys/fs/cgroup/cpu,cpuacct{path}/cpu.stat",
    "sys/fs/cgroup/cpu{path}/cpu.stat",
)
_UNITS_MS = {"throttled_usec": 1e-3, "throttled_time": 1e-6}  # version 2, and 1


class Limits:
    """tag: that of the build. A process may be moved between cgroups, so each round reads where it is."""

    def __init__(self, tag: str, root: Path = ROOT) -> None:
        self._nodes, self._root = TaggedNodes(tag), root
        self._daemons = DaemonStates(root / "proc")

    def read(self) -> Mapping[str, Mapping[str, float]]:
        """By node, `throttled_ms`: milliseconds for which cgroups held its processes back, 0 without a limit.
        By daemon: its states."""
        by_pid = self._nodes.by_pid()
        cgroups: dict[str, set[str]] = {}
        for pid, node in by_pid.items():
            cgroups.setdefault(node, set()).update(self.cgroups(pid))
        of_nodes = {
            node: {"throttled_ms": sum(map(self.throttled_ms, found))}
            for node, found in cgroups.items()
            if found
        }
        return {**of_nodes, **self._daemons.read(by_pid)}

    def cgroups(self, pid: int) -> Iterator[str]:
        """Paths of the process's cgroup for the CPU and of those above, which may also have limits."""
        with suppress(OSError):
            for line in (self._root / f"proc/{pid}/cgroup").read_text().splitlines():
                _, controllers, path = line.split(":", 2)
                if not controllers or "cpu" in controllers.split(","):
                    for above in (Path(path), *Path(path).parents):
                        yield str(above).rstrip("/")

    def throttled_ms(self, path: str) -> float:
        for form in _FILES:
            with suppress(OSError):
                for line in (self._root / form.format(path=path)).read_text().splitlines():
                    name, _, value = line.partition(" ")
                    if name in _UNITS_MS:
                        return float(value) * _UNITS_MS[name]
        return 0.0
