"""Limits of disks, proved by reads in the containers that have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from density_study.cluster.machine import disk_type
from density_study.cluster.machine.io_limits import HELD_BACK
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import Disk
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.container.container import Container
from density_study.cluster.providers.container.transport import (
    ContainerSshTransport,
    ContainerTransport,
)
from density_study.cluster.providers.emulation import prove
from density_study.cluster.state.events import DiskEmulated

Inside = ContainerTransport | ContainerSshTransport
_TIMEOUT_S = 60.0


def prove_limits(
    site: Site, transport: Inside, made: Iterable[Container], versions: Mapping[str, int]
) -> None:
    """Reads in the first container on each disk with limits, before anything uses it. `versions`: that of
    the hosts' cgroups."""
    proved: set[tuple[str, Disk]] = set()
    for one in made:
        drives = zip(one.node.disks, one.writable[1:], strict=False)  # a cache's folder comes last
        for number, (disk, path) in enumerate(drives):
            at = one.node.host, disk
            if disk.path not in one.limits or at in proved:
                continue
            proved.add(at)
            reads = _ReadsInside(transport, site.root / "logs" / one.node.name, number)
            proof = prove(reads, one.node, str(path / "tmp"), one.limits[disk.path])
            proof["held_back"] = HELD_BACK[versions[one.node.host]]
            name = disk.path if transport.same_kernel else f"{one.node.host}:{disk.path}"
            transport.journal.record(DiskEmulated(tag=site.tag, disk=name, proof=proof))


@dataclass(frozen=True)
class _ReadsInside:
    """Runs `read-rate` in a container, with the interface of `Transport.act`."""

    transport: Inside
    folder: Path
    drive: int
    """Each has files of its own for its output."""

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        _, block_bytes, _ = arguments
        out, err = (
            self.folder / f"{name}-{self.drive}-{block_bytes}.{end}" for end in ("out", "err")
        )
        argv = (*self.transport.python(node), "-m", disk_type.__name__, *map(str, arguments))
        process = self.transport.start(node, Command(name, argv), out, err)
        try:
            code = self.transport.wait(process, _TIMEOUT_S)
        finally:
            self.transport.stop(process, 0.0)
        self.transport.fetch(node, out, out)
        self.transport.fetch(node, err, err)
        if code != 0:
            told = " ".join(err.read_text(errors="replace").split())[-300:]
            raise StudyError(
                f"the disk cannot be read there: {told}.",
                f"container of node {node.name!r}",
                "run `study doctor SPEC`, which checks what containers need of each host.",
            )
        return json.loads(out.read_text())
