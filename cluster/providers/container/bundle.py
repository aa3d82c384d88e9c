"""The OCI bundle of a container: its config.json. Pure.

Its root file system is the host's, read-only: it needs no image, and every path means the same inside
and outside. It has no PID namespace: a process has one number, its own (decision 54).

Its /tmp is its own, in memory: there a JVM opens the socket by which monitors ask it. Folders
below the host's /tmp that its nodes need are bound back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from density_study.cluster.machine.containers import NETNS, ROOTFS
from density_study.cluster.model.dividing.cpus import cpus_of
from density_study.cluster.model.host import MIB, IoLimits
from density_study.cluster.providers.container.container import Container
from density_study.cluster.state.tags import NODE, TAG

HOSTS_FILE = "hosts"
TMP = PurePath("/tmp")
PERIOD_US = 100_000
_THROTTLES = {
    "read_iops_sec": "throttleReadIOPSDevice",
    "write_iops_sec": "throttleWriteIOPSDevice",
    "read_bytes_sec": "throttleReadBpsDevice",
    "write_bytes_sec": "throttleWriteBpsDevice",
}


def config(container: Container, cgroup_version: int, devices: Mapping[str, int]) -> dict[str, Any]:
    """`devices`: numbers of the limited disks' devices, by path. The container's own process only waits."""
    return {
        "ociVersion": "1.0.2",
        "hostname": container.node.name,
        "annotations": {"density-study.tag": container.tag},
        "root": {"path": ROOTFS, "readonly": True},
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": ["/bin/sleep", "infinity"],
            "cwd": "/",
            "env": [
                "PATH=/usr/bin:/bin",
                f"{TAG}={container.tag}",
                f"{NODE}={container.node.name}",
            ],
        },
        "mounts": [
            _bind("/", "rro"),
            _bind("/dev"),
            {
                "destination": str(TMP),
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["nosuid", "nodev", "mode=1777"],
            },
            *(_bind(str(path), "rro") for path in dict.fromkeys(_read(container))),
            *(_bind(str(path)) for path in container.writable),
            {**_bind("/etc/hosts", "ro"), "source": str(container.bundle / HOSTS_FILE)},
        ],
        "linux": {
            "cgroupsPath": f"/{container.id}",
            "namespaces": [
                {"type": "network", "path": str(NETNS / container.id)},
                *({"type": kind} for kind in ("mount", "uts", "ipc")),
            ],
            "resources": _resources(container, cgroup_version, devices),
        },
    }


def _read(container: Container) -> Iterator[PurePath]:
    """What lies in the host's /tmp beside the folders that it writes to; and the software, wherever it is, as
    /tmp may be a link."""
    for path in container.writable:
        if TMP in path.parents:
            yield TMP / path.relative_to(TMP).parts[0]
    yield from container.software


def _bind(path: str, *options: str) -> dict[str, Any]:
    return {"destination": path, "type": "bind", "source": path, "options": ["rbind", *options]}


def _resources(container: Container, version: int, devices: Mapping[str, int]) -> dict[str, Any]:
    limit = container.memory_mib * MIB
    # No swap: each version has one of these.
    memory = {"limit": limit, **({"swap": limit} if version == 2 else {"swappiness": 0})}
    cpu: dict[str, Any] = {}
    if container.cores is not None:
        cpu = {"quota": round(container.cores * PERIOD_US), "period": PERIOD_US}
    if container.numa:
        cpu = {
            "cpus": ",".join(map(str, cpus_of(container.numa))),
            "mems": ",".join(str(node.number) for node in container.numa),
        }
    found = {"memory": memory, "cpu": cpu}
    if container.limits:
        found["blockIO"] = _block_io(container.limits, devices)
    return found


def _block_io(limits: Mapping[str, IoLimits], devices: Mapping[str, int]) -> dict[str, Any]:
    found: dict[str, list[dict[str, int]]] = {}
    for path, own in limits.items():
        at = {"major": os.major(devices[path]), "minor": os.minor(devices[path])}
        for name, rate in own.iotune().items():
            found.setdefault(_THROTTLES[name], []).append({**at, "rate": rate})
    return found
