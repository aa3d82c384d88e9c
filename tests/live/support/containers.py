"""Containers without daemons, for tests of what a container is and may do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.machine.io_limits import ROOT
from density_study.cluster.machine.privileged.cut_network import NFT
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import ContainerHost, CpuPolicy, Disk, Host, IoLimits
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.container.provider import ContainerProvider
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.journal import Journal
from tests.live.support.builds import open_build
from tests.support.topologies import layout_of

NETWORK = "198.18.43.0/24"
HOST_ADDRESS = "198.18.43.1"
MEMORY_MIB = 64


def topology(
    folder: Path, cpus: CpuPolicy = "quota", cores: int = 1, limits: IoLimits | None = None
) -> Topology:
    """Two small workers; with a quota each has half of `cores`."""
    disk = Disk(str(folder / "disk"), "flash", limits is not None, limits)
    addresses = tuple(f"198.18.43.{number}" for number in (2, 3))
    carries = ContainerHost(addresses, NETWORK, HOST_ADDRESS, cpus)
    host = Host("here", "127.0.0.1", cores, 6144, (disk,), ("worker",), containers=carries)
    nodes = tuple(
        Node(f"w{number}", "here", address, ("worker",), MEMORY_MIB, cores, disk)
        for number, address in enumerate(addresses, 1)
    )
    return Topology(
        "v2-flash",
        provider_named("container"),
        (host,),
        nodes,
        Isolation.CONTAINER,
        Variant(2, 1, "flash"),
        1,
    )


@dataclass(frozen=True)
class Built:
    folder: Path
    site: Site
    topology: Topology
    journal: Journal

    def run(self, *argv: str, node: int = 0, timeout_s: float = 60.0) -> tuple[int, str]:
        """Exit code and output of a command in a container."""
        transport = ContainerProvider().transport(self.site, self.journal)
        out, err = self.folder / "out", self.folder / "err"
        out.unlink(missing_ok=True)
        command = Command("test", argv, {}, "/")
        process = transport.start(self.topology.nodes[node], command, out, out)
        try:
            return transport.wait(process, timeout_s), out.read_text()
        finally:
            transport.stop(process, 0.0)
            err.unlink(missing_ok=True)

    def python(self, text: str, node: int = 0) -> tuple[int, str]:
        return self.run(sys.executable, "-c", text, node=node)


@contextmanager
def built(folder: Path, layout: Topology) -> Iterator[Built]:
    """Containers of the topology, removed on exit."""
    site, journal = open_build(folder, os.getpid())
    (folder / "disk").mkdir(exist_ok=True)
    journal.intend("build", site.tag, build=site.root.name, provider="container", ports=[])
    try:
        ContainerProvider().create(site, layout, journal)
        yield Built(folder, site, layout, journal)
    finally:
        tear_down(site, journal)


def on_this_machine() -> set[str]:
    """What builds may leave, of any study: containers, network namespaces, interfaces, cgroups, mounts, and
    rules of nftables."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True)
    names = {line.split(": ")[1].partition("@")[0] for line in links.stdout.splitlines()}
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    folders = [Path("/run/runc"), Path("/run/netns"), *ROOT.glob("*"), ROOT]
    tables = subprocess.run([NFT, "list", "tables"], capture_output=True, text=True, check=False)
    return {
        *(name for name in names if name.startswith(("ds", "dv"))),
        *(str(path) for folder in folders for path in folder.glob("study-*")),
        *(mount for mount in mounts if "study" in mount),
        *(line for line in tables.stdout.splitlines() if "density" in line),
    }


def cluster_topology(folder: Path, workers: int = 1) -> Topology:
    """A whole cluster, as a plan places it on this machine."""
    disk = Disk(str(folder / "disk"), "flash")
    addresses = tuple(f"198.18.43.{number}" for number in range(2, 5 + workers))
    host = Host(
        name="here",
        address="127.0.0.1",
        cores=len(os.sched_getaffinity(0)),
        memory_mib=6144,
        disks=(disk,),
        roles=("master", "worker", "client"),
        containers=ContainerHost(addresses, NETWORK, HOST_ADDRESS),
    )
    layout = layout_of("container", base_port=26000)
    return place((host,), (Variant(workers, 1, "flash"),), layout)[0]
