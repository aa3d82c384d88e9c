"""Topologies of guests for live tests: small, and below folders of the test's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from density_study.cluster.model.host import Disk, Host, IoLimits, VmHost
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from tests.support.topologies import with_variant

NETWORK = "10.78.0.0/24"
HOST_ADDRESS = "10.78.0.1"


def vm_host(uri: str, folder: Path, workers: int, images: Path | None = None) -> Host:
    """A host whose disk, `folder`/disk, has room for a master with the client and some workers."""
    (folder / "disk").mkdir(exist_ok=True)
    vms = VmHost(
        uri=uri,
        addresses=tuple(f"10.78.0.{11 + index}" for index in range(workers + 1)),
        network=NETWORK,
        host_address=HOST_ADDRESS,
        data_gib=4,
        images=str(images or folder / "images"),
    )
    disk = Disk(str(folder / "disk"), "flash")
    roles = ("master", "worker", "client")
    return Host("h1", "127.0.0.1", 2, 8192, (disk,), roles, vms=vms)


def topology(host: Host, workers: int, memory_mib: int = 1600) -> Topology:
    """One master, which is also the client, and `workers`, each in a guest."""
    assert host.vms is not None
    disk = host.disks[0]
    addresses = host.vms.addresses
    nodes = [Node("m1", "h1", addresses[0], ("master", "client"), 2048, 2, disk)]
    nodes += [
        Node(f"w{i}", "h1", addresses[i], ("worker",), memory_mib, 2, disk, 512, 1)
        for i in range(1, workers + 1)
    ]
    return Topology(
        name=f"v{workers}-flash",
        provider=provider_named("libvirt"),
        isolation=Isolation.VM,
        variant=Variant(workers, 1, "flash"),
        replication=min(2, workers),
        hosts=(host,),
        nodes=tuple(nodes),
    )


def one_guest(
    uri: str, folder: Path, memory_mib: int = 320, images: Path | None = None
) -> Topology:
    """The minimum: a single master, without daemons."""
    host = vm_host(uri, folder, 0, images)
    layout = topology(host, 0)
    return replace(layout, nodes=(replace(layout.nodes[0], memory_mib=memory_mib),))


def one_limited(uri: str, folder: Path, limits: IoLimits) -> Topology:
    """One guest whose data disk simulates an HDD: a worker, whose disks are verified."""
    layout = one_guest(uri, folder)
    disk = Disk(str(folder / "disk"), "hdd", emulated=True, limits=limits)
    node = replace(layout.nodes[0], roles=("master", "worker", "client"), disk=disk)
    return with_variant(replace(layout, nodes=(node,)), disk_type="hdd")
