"""Containers planned and rendered: limits, mounts, networks, and what the kernel counts for them."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.machine import cgroups
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, NumaNode
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import MIB, ContainerHost, CpuPolicy, Disk, Host, IoLimits
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.container import limits as limits_module
from density_study.cluster.providers.container.bundle import config
from density_study.cluster.providers.container.container import Container
from density_study.cluster.providers.container.container import containers as planned
from density_study.cluster.providers.container.names import bridge_name, link_name
from density_study.cluster.providers.provider import NodeTime
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal
from tests.support.topologies import layout_of

SITE = Site(Path("/runs/s/r/builds/b1"), "s/r/b1")
LAYOUT = layout_of("container")
RESERVE_MIB = 512
DEVICE = os.makedev(254, 1)


SOFTWARE = (PurePath("/usr/lib/jvm/java"), PurePath("/tmp/cache"))
CPUS = (NumaNode(0, ((1, 5), (3, 7))),)
"""Two cores of two threads."""


def topologies(
    densities: tuple[int, ...] = (0, 1, 2),
    cpus: CpuPolicy = "quota",
    cores: int = 2,
    limits: IoLimits | None = None,
) -> tuple[Topology, ...]:
    disk = Disk("/data", "flash", limits is not None, limits)
    addresses = tuple(f"198.18.41.{number}" for number in range(2, 8))
    carries = ContainerHost(addresses, "198.18.41.0/24", "198.18.41.1", cpus, RESERVE_MIB)
    roles = ("master", "worker", "client")
    host = Host("here", "127.0.0.1", cores, 8192, (disk,), roles, containers=carries)
    return place((host,), [Variant(density, 1, "flash") for density in densities], LAYOUT)


def containers(topology: Topology, cpus: Cpus = CPUS) -> tuple[Container, ...]:
    return planned(SITE, topology, {"here": cpus}, SITE.root, SITE.root.parents[1], SOFTWARE)


def workers(topology: Topology) -> list[Container]:
    return [one for one in containers(topology) if "worker" in one.node.roles]


def rendered(one: Container, version: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = config(one, version, {"/data": DEVICE})["linux"]["resources"]
    return found


def test_every_density_has_the_hosts_memory_and_the_bare_host_is_local() -> None:
    bare, one, two = topologies()
    assert (bare.provider.name, bare.isolation) == ("local", "host")
    assert {node.address for node in bare.nodes} == {"127.0.0.1"}
    for topology in (one, two):
        assert (topology.provider.name, topology.isolation) == ("container", "container")
        assert len({node.address for node in topology.nodes}) == len(topology.nodes)
        limited = sum(each.memory_mib for each in containers(topology))
        assert 8192 - RESERVE_MIB - 1 <= limited <= 8192 - RESERVE_MIB
    assert len({sum(node.container_mib for node in t.workers) for t in (bare, one, two)}) == 1


@pytest.mark.parametrize(("version", "no_swap"), [(1, ("swappiness", 0)), (2, ("swap", None))])
def test_memory_is_limited_without_swap(version: int, no_swap: tuple[str, int | None]) -> None:
    (worker,) = workers(topologies((1,))[0])
    memory = rendered(worker, version)["memory"]
    limit = (worker.node.memory_mib + GUEST_OS_MIB) * MIB
    key, value = no_swap
    assert memory == {"limit": limit, key: limit if value is None else value}


def test_workers_divide_the_cores_time_and_nobody_else_has_a_quota() -> None:
    everyone = containers(topologies((3,))[0])
    quotas = {one.node.name: rendered(one)["cpu"] for one in everyone}
    third = {"quota": 66667, "period": 100000}
    assert quotas == {"m1": {}, "c1": {}, "w1": third, "w2": third, "w3": third}
    assert {one.node.cores for one in everyone if one.cores} == {1}  # what a JVM there sees


def test_pinned_workers_have_cores_of_their_own() -> None:
    found = workers(topologies((2,), cpus="pinned", cores=4)[0])
    near = {"mems": "0"}
    assert [rendered(one)["cpu"] for one in found] == [
        {"cpus": "1,5", **near},
        {"cpus": "3,7", **near},
    ]
    one_core = (NumaNode(0, ((1, 3, 5, 7),)),)
    with pytest.raises(InputError, match=r"1 cores on 1 NUMA.* to 2 of vms_per_host"):
        containers(topologies((2,), cpus="pinned", cores=4)[0], one_core)
    with pytest.raises(InputError, match="cannot be divided equally among 3 containers"):
        topologies((3,), cpus="pinned", cores=4)
    assert [rendered(one)["cpu"] for one in workers(topologies((2,), cpus="all")[0])] == [{}, {}]


def test_without_known_cores_pinned_workers_have_a_share_of_their_time() -> None:
    dense = topologies((2,), cpus="pinned", cores=4)[0]
    quotas = [rendered(one)["cpu"] for one in containers(dense, ()) if one.node.name[0] == "w"]
    assert quotas == [{"quota": 200000, "period": 100000}] * 2


def test_workers_on_a_disk_divide_its_limits() -> None:
    limits = IoLimits(read_iops=101, write_mib_s=60)
    for worker in workers(topologies((2,), limits=limits)[0]):
        at = {"major": 254, "minor": 1}
        assert rendered(worker)["blockIO"] == {
            "throttleReadIOPSDevice": [{**at, "rate": 50}],
            "throttleWriteBpsDevice": [{**at, "rate": 30 * MIB}],
        }
    assert "blockIO" not in rendered(workers(topologies((2,))[0])[0])


def test_a_node_writes_to_the_run_and_to_its_own_data_alone() -> None:
    worker = workers(topologies((2,))[0])[1]
    mounts = {mount["destination"]: mount for mount in config(worker, 1, {})["mounts"]}
    assert mounts["/"]["options"] == ["rbind", "rro"]
    writable = {path for path, m in mounts.items() if not {"ro", "rro"} & set(m["options"])}
    assert writable == {"/dev", "/tmp", "/runs/s/r", "/data/density-study/s/r/b1/w2"}


def test_its_tmp_is_its_own_and_shows_what_its_nodes_need_below_it() -> None:
    site = Site(Path("/tmp/here/runs/s/r/builds/b1"), "s/r/b1")
    run, topology = site.root.parents[1], topologies((2,))[0]
    one = planned(site, topology, {"here": CPUS}, site.root, run, SOFTWARE)[0]
    mounts = config(one, 1, {})["mounts"]
    places = [mount["destination"] for mount in mounts]
    # later ones lie upon earlier ones
    assert places[places.index("/tmp") :] == [
        *("/tmp", "/tmp/here", "/usr/lib/jvm/java", "/tmp/cache", str(run)),
        *(str(path) for path in one.writable[1:]),
        "/etc/hosts",
    ]
    kinds = {mount["destination"]: (mount["type"], mount["options"]) for mount in mounts}
    assert kinds["/tmp"] == ("tmpfs", ["nosuid", "nodev", "mode=1777"])
    assert kinds["/tmp/here"] == kinds["/tmp/cache"] == ("bind", ["rbind", "rro"])
    assert kinds[str(run)] == ("bind", ["rbind"])


def test_names_fit_into_linux_and_belong_to_one_build() -> None:
    assert bridge_name("s/r/b1") != bridge_name("s/r/b2")
    assert link_name("s/r/b1", "w1") != link_name("s/r/b1", "w2")
    assert all(len(name) < 16 for name in (bridge_name("s/r/b1"), link_name("s/r/b1", "w1")))


def files(root: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_version_1_counts_in_a_hierarchy_for_each_controller(tmp_path: Path) -> None:
    root = files(
        tmp_path,
        {
            "memory/cgroup.procs": "",
            "memory/study-1/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
            "cpu/cgroup.procs": "",
            "cpu/study-1/cpu.stat": "nr_periods 9\nnr_throttled 4\nthrottled_time 1500000000\n",
            "cpuacct/study-1/cpuacct.usage": "2500000000\n",
        },
    )
    (root / "cpu,cpuacct").symlink_to("cpu")
    assert NodeTime(**cgroups.spent("study-1", root)) == NodeTime(2.5, 1.5, 3)
    assert [path.parent.name for path in cgroups.groups("study-1", root)] == [
        "cpu",
        "cpuacct",
        "memory",
    ]
    assert cgroups.missing(("cpu", "memory", "blkio"), root) == ["blkio"]


def test_version_2_counts_in_one_hierarchy(tmp_path: Path) -> None:
    root = files(
        tmp_path,
        {
            "cgroup.controllers": "cpuset cpu io memory pids\n",
            "study-1/cpu.stat": "usage_usec 2500000\nnr_throttled 4\nthrottled_usec 1500000\n",
            "study-1/memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 3\n",
        },
    )
    assert NodeTime(**cgroups.spent("study-1", root)) == NodeTime(2.5, 1.5, 3)
    assert cgroups.groups("study-1", root) == [root / "study-1"]
    assert cgroups.missing(("cpu", "memory", "hugetlb"), root) == ["hugetlb"]


def test_every_limited_drive_of_a_node_is_proved_once_on_each_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drives = [Disk(f"/d{n}", "hdd", True, IoLimits(read_mib_s=n)) for n in (1, 2)]
    proved: list[tuple[str, str, float | None]] = []

    def prove(_: object, node: Node, folder: str, limits: IoLimits) -> dict[str, object]:
        proved.append((node.name, folder, limits.read_mib_s))
        return {}

    monkeypatch.setattr(limits_module, "prove", prove)
    journal = Journal(tmp_path / "journal.jsonl")
    transport: Any = SimpleNamespace(same_kernel=True, journal=journal)
    made: Any = [
        SimpleNamespace(
            node=Node(
                name, "h1", "192.0.2.1", ("worker",), 1600, 1, drives[0], more_disks=(drives[1],)
            ),
            limits={drive.path: drive.limits for drive in drives},
            writable=(PurePath("/build"), *(PurePath(f"{drive.path}/{name}") for drive in drives)),
            software=(),
        )
        for name in ("w1", "w2")
    ]
    limits_module.prove_limits(Site(tmp_path, "s/r/b"), transport, made, {"h1": 2})
    assert proved == [("w1", "/d1/w1/tmp", 1), ("w1", "/d2/w1/tmp", 2)]
    assert [event.disk for event in journal.events(DiskEmulated)] == ["/d1", "/d2"]
