"""What the guests of a topology use of a host, read from their domains: whatever dealt it out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, NumaNode
from density_study.cluster.model.host import Disk, Host, VcpuPolicy, VmHost
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.libvirt.guests import guests
from tests.support.topologies import layout_of

SITE = Site(Path("/runs/s/r/builds/b1"), "s/r/b1")
HOST = "h"


@dataclass(frozen=True)
class Machine:
    """A worker host with so many of everything. `cpus` are numbered as Linux does: first one thread of each
    core, node by node."""

    numa_nodes: int
    cores_per_node: int
    threads: int
    memory_mib: int
    drives: int
    policy: VcpuPolicy = "pinned"

    @property
    def cores(self) -> int:
        return self.numa_nodes * self.cores_per_node

    @property
    def cpus(self) -> Cpus:
        return tuple(
            NumaNode(
                number,
                tuple(
                    tuple(core + self.cores * thread for thread in range(self.threads))
                    for core in range(number * self.cores_per_node, (number + 1) * self.cores_per_node)
                ),
            )
            for number in range(self.numa_nodes)
        )  # fmt: skip

    def hosts(self, guests_at_most: int) -> tuple[Host, Host]:
        """The master's, and its own."""
        vms = VmHost("qemu:///system", ("192.0.2.2",), "192.0.2.0/24", bridge="br0")
        single = Host(
            "m", "198.51.100.1", 8, 16384, (Disk("/m", "flash"),), ("master", "client"), vms=vms
        )
        vms = VmHost(
            "qemu+ssh://study@h/system",
            tuple(f"192.0.2.{n + 3}" for n in range(guests_at_most)),
            "192.0.2.0/24",
            bridge="br0",
            vcpus=self.policy,
            data_gib=960,
        )
        disks = tuple(Disk(f"/data/{n}", "flash") for n in range(self.drives))
        cores = self.cores * self.threads
        own = Host(HOST, "198.51.100.2", cores, self.memory_mib, disks, ("worker",), vms=vms)
        return single, own

    def topologies(self, densities: Sequence[int]) -> tuple[Topology, ...]:
        variants = [Variant(density, 1, "flash") for density in densities]
        return place(self.hosts(max(densities)), variants, layout_of("libvirt"))


@dataclass(frozen=True)
class Used:
    """By the guests of one host together. `drives`: bytes of data disks on each. `numa`: the nodes whose
    memory they have. `shared_cores` carry several guests; `strewn` guests have parts of several nodes."""

    drives: tuple[tuple[str, int], ...]
    cpus: frozenset[int]
    numa: frozenset[int]
    network_queues: int
    disk_queues: int
    io_threads: int
    data_disks: int
    memory_mib: int
    shared_cores: int
    strewn: int


def used(topology: Topology, cpus: Cpus) -> Used:
    """Of the worker host."""
    drives: Counter[str] = Counter()
    pinned: set[int] = set()
    cores: Counter[tuple[int, ...]] = Counter()
    strewn = 0
    sums: Counter[str] = Counter()
    numa: set[int] = set()
    for guest in guests(SITE, topology, {HOST: cpus}):
        if guest.node.host != HOST:
            continue
        for disk in guest.data:
            drives[str(disk.pool_path)] += disk.size_bytes
        domain = ET.fromstring(guest.xml("kvm", PurePosixPath("/k"), PurePosixPath("/i")))
        own = {int(pin.attrib["cpuset"]) for pin in domain.iterfind("cputune/vcpupin")}
        pinned |= own
        cores.update(core for node in cpus for core in node.cores if own & set(core))
        touched = [set(node.cpus) for node in cpus if own & set(node.cpus)]
        strewn += len(touched) > 1 and not all(node <= own for node in touched)
        for memory in domain.iterfind("numatune/memory"):
            numa.update(map(int, memory.attrib["nodeset"].split(",")))
        data = [
            disk
            for disk in domain.iterfind("devices/disk")
            if disk.findtext("serial", "").startswith("data")
        ]
        drivers = [driver.attrib for disk in data for driver in disk.findall("driver")]
        sums["io_threads"] += len({driver["iothread"] for driver in drivers})
        sums["disk_queues"] += sum(int(driver["queues"]) for driver in drivers)
        sums["data_disks"] += len(data)
        queues = domain.find("devices/interface/driver")
        assert queues is not None and domain.findtext("iothreads") == str(len(data))
        sums["network_queues"] += int(queues.attrib["queues"])
        sums["memory_mib"] += int(domain.findtext("memory", "0"))
    return Used(
        drives=tuple(sorted(drives.items())),
        cpus=frozenset(pinned),
        numa=frozenset(numa),
        shared_cores=sum(count > 1 for count in cores.values()),
        strewn=strewn,
        **sums,
    )


def different(first: Used, later: Used) -> list[str]:
    """The fields in which they differ; memory by more than the MiB that does not divide."""
    names = [
        name
        for name in Used.__dataclass_fields__
        if name != "memory_mib" and getattr(first, name) != getattr(later, name)
    ]
    rest_mib = max(first.data_disks, later.data_disks)  # at least as many as guests
    return names + ["memory_mib"] * (abs(first.memory_mib - later.memory_mib) >= rest_mib)
