"""Variants of every factor, on hosts of every provider, differ in what the factor names, and in nothing else.

Random hosts: 4 to 256 cores, 8 GiB to 2 TiB, 1 to 24 drives, with the sizes that follow their memory. What
differs beyond the factor's own is disclosed, or obstructs the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from density_study.analysis.findings.unequal_hosts import moved_along, unequal_hosts
from density_study.cluster.model.dividing.memory_shares import system_mib
from density_study.cluster.model.dividing.sizing import sizing_of
from density_study.cluster.model.dividing.virtio import virtio_of
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import ContainerHost, Disk, Host, VmHost
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import ExistingTopology, Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import OF_OTHERS, OF_STUDIES
from density_study.cluster.stores.store import render
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.study_file import parse_study
from tests.support.topologies import blueprint, layout_of

DISKS = ("flash", "hdd")
DENSITIES = (0, 1, 2, 3, 4, 6, 8)
LEVELS: Mapping[str, object] = {
    "hosts": [1, 2, 3],
    "store": ["hbase", {"name": "hbase", "durability": "synced"},
              {"name": "cassandra", "durability": "synced"}],
    "stack": [{"hadoop": "3.4.1"}, {"hadoop": "3.4.2"}, {"hbase": "2.5.13"}],
    "configuration": {
        "plain": {},
        "handlers": {"hbase-site": {"hbase.regionserver.handler.count": 60}},
        "zgc": {"jvm": {"regionserver": {"collector": "ZGC"}}},
        "parallel": {"jvm": {"datanode": {"collector": "Parallel"}}},
        "cache": {"block_cache": {"place": "off-heap", "size": "512 MiB"}},
        "shares": {"jvm": {"regionserver": {"heap": "30% of node"}},
                   "block_cache": {"place": "off-heap", "size": "20% of node"}},
    },
    "tier": ["heap", {"offheap": "512 MiB"}, {"file": "flash", "size": "1 GiB"}],
    "network": ["default", {"rate": "100 Mbit/s"}, {"mtu": 9000}, {"rps": [1]}],
    "oversubscribe": ["none", {"memory": 1.5}, {"memory": 4.0}, {"cores": 2.0}],
}  # fmt: skip
"""Of factors whose levels have names, as a study writes them."""
CLUSTERS = """
study: c
provider: existing
existing: {folder: /user/me/density, limits: {rate: 500/s}, table: {bloom: none}}
factors:
  cluster:
    a: {configuration: /etc/a, vms_per_host: 1, disk_type: hdd}
    b: {configuration: /etc/b, vms_per_host: 4, disk_type: flash}
workloads:
  - ycsb: {records: [100_000], mixes: [load, c], threads: [8], duration: 60 s, warm_up: 5 s}
"""
PROVIDERS = ("local", "physical", "libvirt", "container")
"""Those that place nodes on hosts."""
HEAPS = ("heap of regionserver", "flag regionserver -Xms*")
NAMED: Mapping[str, tuple[str, ...]] = {
    "vms_per_host": (
        "nodes of each host", "servers of each host", *HEAPS, "isolation", "provider",
        "* yarn-site yarn.nodemanager.resource.*", "* yarn-site yarn.scheduler.maximum-allocation-mb",
        "* yarn-site yarn.nodemanager.local-dirs", "* hdfs-site dfs.datanode.data.dir",
        "* hdfs-site dfs.namenode.safemode.min.datanodes", "* hbase-site hbase.master.wait.on.*",
        "* yarn-site yarn.scheduler.include-port-in-node-name",  # several nodes have one address
    ),
    "regionservers_per_node": (
        "servers of each host", *HEAPS, "* hbase-site hbase.master.wait.on.*",
    ),
    "disk_type": ("disk type", "drives", "* hdfs-site dfs.datanode.data.dir",
                  "* hdfs-site dfs.storage.default.policy"),
    "hosts": ("hosts", "* hdfs-site dfs.namenode.safemode.min.datanodes",
              "* hdfs-site dfs.block.replicator.classname", "* hbase-site hbase.master.wait.on.*"),
    "store": ("store", "servers of each host", "heap of *", "flag *", "* *-site *", "daemons",
              "containers of each host"),
    "stack": ("versions", "flag * -XX:SharedArchiveFile*", "* hdfs-site dfs.storage.default.policy"),
    "configuration": ("configuration", *HEAPS, "flag regionserver *", "flag datanode -XX:+Use*",
                      "* hbase-site hbase.regionserver.handler.count", "* hbase-site hbase.bucketcache.*",
                      "* hbase-site hfile.block.cache.size"),
    "tier": ("configuration", *HEAPS, "flag regionserver *", "* hbase-site hbase.bucketcache.*",
             "* hbase-site hfile.block.cache.size"),
    "network": ("network",),
    "oversubscribe": ("* yarn-site yarn.nodemanager.resource.*",
                      "* yarn-site yarn.scheduler.maximum-allocation-mb"),
}  # fmt: skip
"""By factor: what may differ between two of its levels, because that is what the factor is."""
SAID: Mapping[str, tuple[str, ...]] = {
    "each client: ": ("master", "clients' memory", "queues and I/O threads"),
    "I/O threads of the guests": ("queues and I/O threads",),
    "queues of the guests'": ("queues and I/O threads",),
}
"""What may differ where the finding says so, or is obstructed by it, in words that contain these."""


@st.composite
def hosts(draw: st.DrawFn, provider: str) -> list[Host]:
    """A master with the client, and workers of one kind; of `local` one host that is all of it."""
    cores, mib = draw(st.integers(4, 256)), draw(st.integers(8 * 1024, 2 * 1024 * 1024))
    policy = draw(st.sampled_from(["all", "quota", "pinned"]))
    if provider == "libvirt" and policy == "pinned":
        cores = 24 * -(-cores // 24)  # others are refused where guests get their CPUs
    drives = tuple(
        Disk(f"/data/{kind}{number}", kind)  # type: ignore[arg-type]
        for kind in DISKS
        for number in range(draw(st.integers(1, 24)))
    )
    if provider == "local":
        return [Host("h0", "127.0.0.1", cores, mib, drives, ("master", "worker", "client"))]
    master = Host("m", "192.0.2.99", 8, 32768, drives, ("master", "client"))
    found = [master, *(Host(f"h{n}", f"192.0.2.{n}", cores, mib, drives) for n in (1, 2, 3))]
    return [_divided(host, number, provider, policy) for number, host in enumerate(found)]


def _divided(host: Host, number: int, provider: str, policy: str) -> Host:
    addresses = tuple(f"198.51.100.{20 * number + n}" for n in range(1, 20))
    if provider == "libvirt":
        vcpus = "all" if policy == "quota" else policy
        vms = VmHost("qemu:///system", addresses, "198.51.100.0/24", bridge="b", vcpus=vcpus)  # type: ignore[arg-type]
        return replace(host, vms=vms)
    if provider == "container":
        own = ContainerHost(addresses, "198.51.100.0/24", "198.51.100.254", policy)  # type: ignore[arg-type]
        return replace(host, containers=own)
    return host


def levels_of(factor: str, base: Variant, provider: str) -> list[Variant]:
    """A variant at each level of the factor."""
    if factor == "vms_per_host":
        able = {"local": DENSITIES[1:], "physical": DENSITIES[:1]}.get(provider, DENSITIES)
        return [replace(base, vms_per_host=n) for n in able]
    if factor == "regionservers_per_node":
        return [replace(base, vms_per_host=0, regionservers_per_node=n) for n in (1, 2, 4)]
    if factor == "disk_type":
        return [replace(base, disk_type=kind) for kind in DISKS]  # type: ignore[arg-type]
    known = factors()[factor]
    given_levels = TypeAdapter(known.key[0]).validate_python(LEVELS[factor])
    return [
        replace(known.apply(base, level), levels={factor: name})
        for name, level in known.pairs(given_levels)
    ]


def facts(topology: Topology) -> dict[str, object]:
    """All that a variant's numbers may depend on, without names, addresses, paths and ports."""
    variant, workers = topology.variant, topology.workers
    by_host = {node.host for node in workers}
    each = [[node for node in workers if node.host == name] for name in sorted(by_host)]
    of = {host.name: host for host in topology.hosts}
    found: dict[str, object] = {
        "hosts": sorted(by_host),
        "master": (topology.master.host, topology.master.cores, topology.master.memory_mib),
        "clients": [(node.host, node.cores) for node in topology.clients],
        "clients' memory": sum(node.memory_mib for node in topology.clients),
        "layout": (topology.replication, topology.jit, topology.base_port, topology.worker_stacks),
        "provider": topology.provider, "isolation": topology.isolation,
        "versions": variant.versions, "store": variant.store, "network": variant.network,
        "sizing": variant.sizing, "disk type": variant.disk_type,
        "configuration": variant.configuration,
        "nodes of each host": len(each[0]),
        "servers of each host": sum(node.regionservers for node in each[0]),
        "memory of each host": _memory(of, topology, each[0]),
        "containers of each host": sum(node.container_mib for node in each[0]),
        "cores of each host": min(of[each[0][0].host].cores, sum(node.cores for node in each[0])),
        "drives": {disk.path for node in each[0] for disk in node.disks},
    }  # fmt: skip
    if topology.isolation.facts.own_kernel:
        queues = [virtio_of(topology, node) for node in each[0]]
        found["queues and I/O threads"] = [
            sum(one.network_queues for one in queues), sum(one.io_threads for one in queues),
            sum(one.disk_queues * len(n.disks) for one, n in zip(queues, each[0], strict=True)),
        ]  # fmt: skip
    return found | dict(_rendered(topology))


def _memory(of: Mapping[str, Host], topology: Topology, nodes: Sequence[Node]) -> int:
    """GiB, so that MiB that do not divide are none; a guest's own system is a part of its share."""
    own_mib = system_mib(of[nodes[0].host], topology.variant)
    return round((nodes[0].memory_mib + own_mib) * len(nodes) / 1024)


def _rendered(topology: Topology) -> Iterator[tuple[str, object]]:
    rendered = render(blueprint(topology))
    yield "daemons", {one.role for one in rendered.daemons}
    if topology.store.name != "hbase":
        return
    heaps = [
        daemon_heaps(n, topology.configuration, topology.variant.sizing) for n in topology.nodes
    ]
    for kind in {kind for one in heaps for kind in one}:
        yield f"heap of {kind}", {one[kind] for one in heaps if kind in one}
    flags: dict[str, int] = {}
    for daemon in rendered.daemons:
        for flag in daemon.command.argv:
            if flag.startswith("-X") and not flag.startswith("-Xmx"):
                flags[f"flag {daemon.role} {_plain(flag)}"] = 1
    yield from flags.items()
    roles = {node.name: node.roles[0] for node in topology.nodes}
    values: dict[str, set[str]] = {}
    for path, text in rendered.files.items():
        _, node, name = ("", *path.split("/"))[-3:]
        if name.endswith("-site.xml"):
            for one in ET.fromstring(text).iter("property"):
                key = f"{roles.get(node, 'client')} {name.removesuffix('.xml')} {one.findtext('name')}"
                values.setdefault(key, set()).add(_plain(one.findtext("value", "")))
    yield from ((key, sorted(seen)) for key, seen in values.items() if not key.endswith("ort"))


def _plain(text: str) -> str:
    text = re.sub(r"(?:192\.0\.2|198\.51\.100|127\.0\.0)\.\d+(?::\d+)?", "<address>", text)
    text = re.sub(r"/data/density-study/[^,\s]*", "<data>", text)
    return re.sub(r"\b[mcw]\d+\b", "<node>", text)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("factor", "provider"),
    [
        pytest.param(factor, provider, marks=[] if (n + m) % 4 == 0 else pytest.mark.slow)
        for n, factor in enumerate(NAMED)
        for m, provider in enumerate(PROVIDERS)
    ],
)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_variants_differ_in_what_the_factor_names(
    factor: str, provider: str, data: st.DataObject
) -> None:
    owned = data.draw(hosts(provider))
    density = 0 if provider == "physical" else data.draw(st.sampled_from([1, 2, 4]))
    base = Variant(density, 1, "flash", sizing=sizing_of(owned))
    every = levels_of(factor, base, provider)
    if len(every) < 2:  # bare hosts have one density
        return
    variants = data.draw(st.lists(st.sampled_from(every), min_size=2, max_size=2, unique=True))
    assume(variants[0].name() != variants[1].name())
    try:
        first, later = place(owned, variants, layout_of(provider))
    except InputError:
        assume(False)
        raise
    a, b = facts(first), facts(later)
    unequal = [key for key in a.keys() | b.keys() if a.get(key) != b.get(key)]
    said = " ".join((*moved_along(first, later), *unequal_hosts(first, later)))
    named = [
        *NAMED[factor],
        *(key for words, keys in SAID.items() if words in said for key in keys),
    ]
    hidden = [key for key in unequal if not any(fnmatchcase(key, one) for one in named)]
    assert not hidden, {key: (a.get(key), b.get(key)) for key in hidden}
    if factor == "disk_type":
        assert ("drives of the hosts" in said) == (len(a["drives"]) != len(b["drives"]))  # type: ignore[arg-type]
    if a["servers of each host"] == b["servers of each host"] != 0:
        moved = a.get("heap of regionserver") != b.get("heap of regionserver")
        assert not moved or "heap of a RegionServer" in said or "32 GiB" in said


def test_no_factor_and_no_provider_is_left_out() -> None:
    assert {*NAMED, "cluster"} == set(factors())
    assert {*PROVIDERS, "existing", *OF_OTHERS} == set(OF_STUDIES)


def test_clusters_of_others_are_measured_by_one_client_at_one_pace() -> None:
    """What they are themselves nobody but they can say; the study does the same to each."""
    study = parse_study(CLUSTERS, "c.yaml").study
    plan = make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))
    a, b = plan.topologies.values()
    assert (a.hosts, a.nodes, a.store, a.jit) == (b.hosts, b.nodes, b.store, b.jit)
    assert isinstance(a, ExistingTopology) and isinstance(b, ExistingTopology)
    unequal = {
        one.name
        for one in fields(a.existing)
        if getattr(a.existing, one.name) != getattr(b.existing, one.name)
    }
    assert unequal == {"name", "configuration", "vms_per_host", "disk_type"}
