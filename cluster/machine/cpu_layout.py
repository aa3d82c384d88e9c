"""This machine's NUMA nodes, cores and CPUs as the kernel reports them, for `cluster.model.cpus`.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from density_study.cluster.model.cpus import Cpus, NumaNode, cpus_in

SYSTEM = Path("/sys/devices/system")


def read_cpus(usable: Collection[int] | None = None, system: Path = SYSTEM) -> Cpus:
    """Of the CPUs that this process may use; empty if the kernel does not say which belong to which core."""
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
