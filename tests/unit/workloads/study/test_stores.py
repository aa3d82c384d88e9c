"""`store` of a study and as a factor: levels, refusals, placement and what clients are told."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.analysis.summary.disclosure import unequal_durability, unexpected_differences
from density_study.cluster.model.cluster import Endpoints, Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.memory import OVERHEAD_MIB as OVERHEAD_OF_JVM_MIB
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import Store, default_store, store_named, words_of
from density_study.cluster.stores.accumulo.store import GC_HEAP_MIB, tserver_heap_mib
from density_study.cluster.stores.cassandra.store import OVERHEAD_MIB, heap_mib, tokens
from density_study.cluster.stores.redis.store import data_mib, rows_mib, slots
from density_study.cluster.stores.store import Rows
from density_study.dags.cli.plan_page import warnings_of
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import disk_need_mib
from density_study.workloads.planning.room import LOGS_MIB
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.stores.store_tool import _shape, uneven
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import local, with_variant

BASE = """
study: s
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
"""
YCSB = "workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]\n"


def study(more: str, workloads: str = YCSB) -> Study:
    return parse_study(BASE + workloads + more, "s.yaml").study


def planned(tmp_path: Path, more: str, workloads: str = YCSB) -> Plan:
    (tmp_path / "s.yaml").write_text(BASE + workloads + more)
    return plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs").plan


def test_a_plan_warns_of_variants_that_will_not_be_compared(tmp_path: Path) -> None:
    factors = "factors: {{vms_per_host: [1], store: [redis, {{name: rocksdb, durability: {}}}]}}\n"
    warned = [
        [one for one in warnings_of(planned(tmp_path, factors.format(level))) if "unequal" in one]
        for level in ("page_cache", "synced")
    ]
    assert warned == [
        [],
        ["stores with unequal durability are not compared: Redis, page cache; RocksDB, synced"],
    ]


def test_estimates_of_a_store_are_without_what_it_does_not_need(tmp_path: Path) -> None:
    synced = "{name: cassandra, durability: synced}"
    plan = planned(tmp_path, f"factors: {{vms_per_host: [1], store: [hbase, redis, {synced}]}}\n")
    steps = {
        (
            plan.topologies[plan.builds[step.build]].store.name,
            step.kind,
            step.order,
        ): step.estimate_s
        for step in plan.steps
    }
    ups = {name: estimate_s for (name, kind, _), estimate_s in steps.items() if kind == "up"}
    assert ups["hbase"] > ups["redis"] == ups["cassandra"] > 0
    trials = {
        name: sum(s for (store, kind, _), s in steps.items() if (store, kind) == (name, "trial"))
        for name in ups
    }
    assert round(trials["hbase"]) == round(trials["cassandra"]) > trials["redis"] + 60, (
        "a JVM is warmed up"
    )


def test_a_store_is_hbase_unless_the_study_says_otherwise(tmp_path: Path) -> None:
    plain = planned(tmp_path, "factors: {vms_per_host: [1]}\n")
    (topology,) = plain.topologies.values()
    assert (topology.name, topology.store, topology.levels) == ("v1-flash", default_store(), {})
    assert "store" not in topology.declared


def test_the_durability_is_in_the_name_of_every_variant(tmp_path: Path) -> None:
    stores = "[hbase, redis, {name: redis, durability: synced}, rocksdb]"
    plan = planned(tmp_path, f"factors: {{vms_per_host: [1], store: {stores}}}\n")
    assert list(plan.topologies) == [
        "v1-flash-hbase-page-cache",
        "v1-flash-redis-page-cache",
        "v1-flash-redis-synced",
        "v1-flash-rocksdb-page-cache",
    ]
    alone = planned(tmp_path, "store: redis\nfactors: {vms_per_host: [1]}\n")
    assert list(alone.topologies) == ["v1-flash-redis-page-cache"]
    assert words_of("redis-page-cache") == "Redis, page cache"
    assert words_of("hadoop-3.4.1") == "hadoop-3.4.1"


def test_every_store_has_the_same_nodes_and_memory(tmp_path: Path) -> None:
    plan = planned(tmp_path, "factors: {vms_per_host: [1], store: [hbase, redis, rocksdb]}\n")
    hbase, redis, rocksdb = plan.topologies.values()
    memory = [[(n.name, n.memory_mib, n.disk) for n in t.nodes] for t in (hbase, redis, rocksdb)]
    assert memory[0] == memory[1] == memory[2]
    assert [service for _, service in allocate_ports(redis).by_service] == ["redis"]
    assert not allocate_ports(rocksdb).by_service


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("store: cassandra\nfactors: {vms_per_host: [1]}\n", "no durability page_cache.*synced"),
        ("store: {name: cassandra, durability: synced}\nfactors: {vms_per_host: [1]}\n" "stack: {java: 21}\n",
         "only on Java 17"),
        ("store: accumulo\nfactors: {vms_per_host: [1]}\nstack: {java: 21}\n",
         "Accumulo runs only on Java 17"),
        ("store: {name: aerospike, durability: memory}\nfactors: {vms_per_host: [1]}\n",
         "no package registry has a server of Aerospike.*provider existing and the key endpoint"),
        ("factors: {vms_per_host: [1], store: [redis, {name: aerospike, durability: synced}]}\n",
         "no package registry has a server of Aerospike"),
        ("store: redis\nfactors: {vms_per_host: [1], store: [redis]}\n", "remove this key"),
        ("store: redis\nfactors: {vms_per_host: [1], configuration: {a: {}}}\n",
         "configuration is of Hadoop and HBase"),
        ("factors: {vms_per_host: [1], store: [redis, redis]}\n", "duplicate"),
        ("store: {name: redis, durability: some}\nfactors: {vms_per_host: [1]}\n", "page_cache"),
    ],
)  # fmt: skip
def test_a_faulty_store_is_refused_with_the_reason(more: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        study(more)


VMS = "vms: {network: 192.0.2.0/24, addresses: 192.0.2.100-192.0.2.120}"


@pytest.mark.parametrize(
    ("provider", "store", "more", "said"),
    [
        ("libvirt", "rocksdb", VMS, "RocksDB runs in the client, whose container or VM"),
        ("container", "rocksdb", "", "RocksDB runs in the client, whose container"),
    ],
)
def test_where_a_store_is_not_built(provider: str, store: str, more: str, said: str) -> None:
    host = "{name: a, memory: 6 GiB, roles: [master, worker, client]}"
    if provider == "libvirt":
        host = (
            "{name: a, cores: 4, memory: 8 GiB, roles: [master, worker, client], libvirt: qemu:///system, "
            "disks: [{path: /d, disk_type: flash}]}"
        )
    text = f"""
study: s
provider: {provider}
store: {store}
factors: {{vms_per_host: [1]}}
hosts: [{host}]
{more}
"""
    with pytest.raises(InputError, match=said):
        parse_study(text + YCSB, "s.yaml")


def test_an_engine_in_the_client_is_on_the_workers_host() -> None:
    text = """
study: s
provider: physical
store: rocksdb
factors: {vms_per_host: [0]}
hosts:
  - {name: a, address: 192.0.2.1, memory: 6 GiB, roles: [master, client]}
  - {name: b, address: 192.0.2.2, memory: 6 GiB, roles: [worker]}
ssh: {user: me}
"""
    with pytest.raises(InputError, match="the roles client and worker to the same host"):
        parse_study(text + YCSB, "s.yaml")
    together = text.replace("[master, client]", "[master]").replace("[worker]", "[worker, client]")
    assert parse_study(together + YCSB, "s.yaml").study.store.name == "rocksdb"


def test_containers_of_this_machine_have_stores_and_the_bare_host(tmp_path: Path) -> None:
    more = "provider: container\nfactors: {vms_per_host: [0, 2], store: [hbase, redis-cluster]}\n"
    assert list(planned(tmp_path, more).topologies) == [
        "v0-flash-hbase-page-cache", "v0-flash-redis-cluster-page-cache", "v0-r2-flash-hbase-page-cache",
        "v2-flash-hbase-page-cache", "v2-flash-redis-cluster-page-cache",
    ]  # fmt: skip
    asked = more.replace("store:", "regionservers_per_node: [1, 2], store:")
    with pytest.raises(InputError, match="Redis Cluster has no RegionServers"):
        planned(tmp_path, asked)


@pytest.mark.parametrize(
    ("workload", "more", "said"),
    [
        ("ycsb: {records: [1000], mixes: [c], threads: [8]}", "store: redis", "1 worker"),
        ("testdfsio: {modes: [write], files: 1, file_size: 1 MiB}", "store: redis", "no HDFS"),
        ("ycsb: {records: [90000000], mixes: [c], threads: [8]}", "store: redis", "keeps all rows in memory"),
        ("ycsb: {records: [1000], mixes: [c], threads: [8], clients: 2}", "store: rocksdb",
         "one client process"),
        ("genomics: {samples: [100], sites: 1000, mixes: [sample-read], threads: [4]}", "store: redis",
         "variant store exists only for HBase"),
        ("ycsb: {records: [1000], mixes: [e], threads: [8]}", "store: {name: cassandra, durability: synced}",
         "no scan from a key on"),
        ("ycsb: {records: [1000], mixes: [e], threads: [8]}", "store: redis-cluster",
         "Redis Cluster places rows by a hash"),
        ("ycsb: {records: [1000], mixes: [{name: x, read: 0.9, scan: 0.1}], threads: [8]}",
         "store: {name: cassandra, durability: memory}", "no scan from a key on"),
    ],
)  # fmt: skip
def test_what_a_store_cannot_do_is_refused_by_name(
    tmp_path: Path, workload: str, more: str, said: str
) -> None:
    vms = "[2]" if said == "1 worker" else "[1]"
    with pytest.raises(InputError, match=said):
        planned(
            tmp_path,
            f"{more}\nfactors: {{vms_per_host: {vms}}}\n",
            f"workloads: [{{{workload}}}]\n",
        )


def test_testdfsio_runs_on_hbase_alone_where_the_study_has_it(tmp_path: Path) -> None:
    both = (
        "workloads: [{testdfsio: {modes: [write], files: 1, file_size: 1 MiB}}, "
        "{ycsb: {records: [1000], mixes: [c], threads: [8]}}]\n"
    )
    plan = planned(tmp_path, "factors: {vms_per_host: [1], store: [hbase, redis]}\n", both)
    dfsio = {step.build for step in plan.trials if step.test_case.workload == "testdfsio"}  # type: ignore[union-attr]
    assert dfsio == {"b1-v1-flash-hbase-page-cache"}


def test_scans_run_on_the_stores_that_have_them(tmp_path: Path) -> None:
    stores = "[{name: hbase, durability: synced}, {name: cassandra, durability: synced}]"
    mixes = "workloads: [{ycsb: {records: [1000], mixes: [a, e], threads: [8]}}]\n"
    plan = planned(tmp_path, f"factors: {{vms_per_host: [1], store: {stores}}}\n", mixes)
    assert [
        (step.build, step.test_case.mix) for step in plan.trials if step.test_case.mix == "e"
    ] == [  # type: ignore[union-attr]
        ("b1-v1-flash-hbase-synced", "e")
    ]


def test_cassandra_has_a_node_per_worker_with_its_memory(tmp_path: Path) -> None:
    store = "store: {name: cassandra, durability: synced}\n"
    plan = planned(tmp_path, f"{store}factors: {{vms_per_host: [1, 2]}}\n")
    for topology, nodes in zip(plan.topologies.values(), (1, 2), strict=True):
        ports = allocate_ports(topology).by_service
        assert len(ports) == len(set(ports.values())) == 3 * nodes
        for node in topology.workers:
            heap = heap_mib(node)
            beside = heap // 4 + heap // 16 + OVERHEAD_MIB  # caches, and all else
            assert 0 <= node.memory_mib - heap - beside <= 3


def test_accumulo_has_the_daemons_and_memory_of_hbase_but_for_its_own(tmp_path: Path) -> None:
    plan = planned(tmp_path, "factors: {vms_per_host: [1, 2], store: [hbase, accumulo]}\n")
    by_name = plan.topologies
    for density in (1, 2):
        hbase = by_name[f"v{density}-flash-hbase-page-cache"]
        accumulo = by_name[f"v{density}-flash-accumulo-page-cache"]
        nodes = [
            [(n.name, n.memory_mib, n.container_mib) for n in t.nodes] for t in (hbase, accumulo)
        ]
        assert nodes[0] == nodes[1]
        for ours, theirs in zip(accumulo.workers, hbase.workers, strict=True):
            assert tserver_heap_mib(accumulo, ours) == daemon_heaps(theirs)["regionserver"]
            assert ours.regionservers == 0
        ports = allocate_ports(accumulo).by_service
        assert len(ports) == len(set(ports.values()))
        services = {service for _, service in ports}
        assert {"manager", "gc", "tserver", "namenode.rpc", "nodemanager.rpc"} <= services
        assert not [one for one in services if one.startswith(("hmaster", "regionserver"))]
        needs = sum(daemon_heaps(accumulo.master).values()) + GC_HEAP_MIB
        assert accumulo.master.memory_mib >= needs + 5 * OVERHEAD_OF_JVM_MIB


def test_a_table_has_as_many_tablets_as_hbase_has_regions() -> None:
    test_case = YcsbTestCase(
        mix="c", records=1000, threads=4, duration_s=10.0, insert_order="ordered"
    )
    shape = _shape(test_case, workers=2)
    assert (shape["tablets"], shape["insertorder"], shape["recordcount"]) == (
        "20",
        "ordered",
        "1000",
    )


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
def test_each_node_has_an_equal_part_of_the_ring(nodes: int) -> None:
    found = [*tokens(nodes), tokens(nodes)[0] + 2**64]
    assert min(found) == -(2**63) and max(found[:-1]) < 2**63
    parts = [after - before for before, after in pairwise(found)]
    assert max(parts) - min(parts) <= 1


def test_a_shard_of_redis_needs_memory_for_its_part_of_the_rows(tmp_path: Path) -> None:
    """1,400,000 rows take 2.8 GiB: more than half of the memory for rows, but less than all of it."""
    mixes = "workloads: [{ycsb: {records: [1_400_000], mixes: [c], threads: [8]}}]\n"
    cluster = "store: redis-cluster\nfactors: {vms_per_host: [2]}\n"
    (topology,) = planned(tmp_path, cluster, mixes).topologies.values()
    need_mib = rows_mib(Rows("c", 1_400_000, 10, 100))
    assert all(need_mib / 2 < data_mib(worker) < need_mib for worker in topology.workers)
    assert topology.name == "v2-flash-redis-cluster-page-cache"
    assert words_of("redis-cluster-page-cache") == "Redis Cluster, page cache"
    with pytest.raises(InputError, match="keeps all rows in memory"):
        planned(tmp_path, cluster, mixes.replace("1_400_000", "2_800_000"))


@pytest.mark.parametrize("nodes", [1, 2, 3, 7])
def test_each_shard_has_an_equal_part_of_the_slots(nodes: int) -> None:
    parts = slots(nodes)
    assert [slot for part in parts for slot in part] == list(range(16384))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"rows": 1000}, ""),
        ({"rows": 1000, "shards": 1, "rows_of_fewest": 1000, "rows_of_most": 1000}, ""),
        ({"rows": 30_001, "shards": 3, "rows_of_fewest": 9_903, "rows_of_most": 10_061}, ""),
        ({"rows": 1000, "shards": 2, "rows_of_fewest": 400, "rows_of_most": 600}, "400 of 1,000"),
        ({"rows": 900, "shards": 3, "rows_of_fewest": 300, "rows_of_most": 400}, "400 of 900"),
    ],
)
def test_rows_that_are_not_in_equal_parts_are_found(state: dict[str, int], said: str) -> None:
    found = uneven(state)
    assert said in found and bool(found) is bool(said)


def test_unequal_durability_is_not_compared(tmp_path: Path) -> None:
    stores = "[hbase, redis, {name: redis, durability: synced}]"
    plan = planned(tmp_path, f"factors: {{vms_per_host: [1], store: {stores}}}\n")
    hbase, redis, synced = (topology.declared for topology in plan.topologies.values())
    assert unequal_durability(hbase, redis) == ()
    assert unequal_durability(redis, synced) == ("store.durability: page_cache and synced",)
    assert unequal_durability(hbase, synced)


def test_a_store_explains_its_own_disclosure_and_nothing_else() -> None:
    hbase = {"stacks": {"hbase": {"version": "2"}}, "native_hadoop": False, "machine": "a"}
    redis = {"store": {"name": "Redis", "durability": "page_cache"}, "machine": "b"}
    hbase["stacks"]["java"] = "21"  # type: ignore[index]
    redis["stacks"] = {"java": "17"}
    variants = {
        "b1": {"topology": "x"},
        "b2": {"topology": "y", "store": "redis", "store.durability": "page_cache"},
    }
    found = unexpected_differences({"b1": hbase, "b2": redis}, variants)
    assert [difference.key for difference in found] == ["machine"]


def test_memory_of_redis_is_what_was_measured(tmp_path: Path) -> None:
    """20,000 rows took 39.3 MiB of used memory, the empty server 1.1 MiB of it."""
    assert 38.2 <= rows_mib(Rows("c", 20_000, 10, 100)) <= 1.15 * 38.2
    plan = planned(tmp_path, "store: redis\nfactors: {vms_per_host: [1]}\n")
    (worker,) = next(iter(plan.topologies.values())).workers
    assert 0 < data_mib(worker) < worker.memory_mib


@pytest.mark.parametrize(
    ("store", "told"),
    [
        (default_store(), {}),
        (store_named("hbase", "synced"), {"durability": "FSYNC_WAL"}),
        (store_named("hbase", "memory"), {"durability": "SKIP_WAL"}),
        (store_named("redis"), {"redis.address": "127.0.0.1:21000"}),
        (store_named("redis-cluster", "synced"),
         {"redis.address": "127.0.0.1:21000", "redis.cluster": "true"}),
        (store_named("accumulo", "synced"),
         {"accumulo.zookeepers": "127.0.0.1:21007", "accumulo.instance": "study",
          "accumulo.password": "study", "accumulo.tservers": "2", "accumulo.durability": "sync"}),
        (store_named("cassandra", "synced"),
         {"cassandra.nodes": "127.0.0.1:21000,127.0.0.1:21003", "cassandra.keyspace": "study",
          "cassandra.jmx": "127.0.0.1:21002,127.0.0.1:21005", "cassandra.replication": "1",
          "durability": "synced"}),
    ],
)  # fmt: skip
def test_clients_are_told_the_durability_that_no_server_sets(
    store: Store, told: dict[str, str]
) -> None:
    endpoints = Endpoints(
        {
            "store": {"w1/redis": "127.0.0.1:21000"},
            "zookeeper.client": {"m1/zookeeper": "127.0.0.1:21007"},
        }
    )
    topology, site = with_variant(local(2), store=store), Site(Path("/b"), "s/r/b")
    cluster: Any = SimpleNamespace(
        site=site, topology=topology, built=topology, endpoints=endpoints
    )
    assert binding_of(cluster).properties == told


def test_the_client_of_another_store_has_its_db_and_nothing_of_hbase() -> None:
    test_case = YcsbTestCase(mix="c", records=1000, threads=4, duration_s=10.0)
    arguments = client_arguments(test_case, "/x", db="a.B", of_store={"redis.address": "h:1"})
    assert "think.timed.db=a.B" in arguments and "redis.address=h:1" in arguments
    assert not [word for word in arguments if "HBaseClient" in word]
    assert client_arguments(test_case, "/x") == client_arguments(test_case, "/x", of_store={})


def test_commit_logs_of_cassandra_take_disk_on_every_node() -> None:
    mixes = "workloads: [{ycsb: {records: [1000], mixes: [a], threads: [8]}}]\n"
    synced = "[{name: hbase, durability: synced}, {name: cassandra, durability: synced}]"
    densities = "vms_per_host: [1, 2]"
    plain = disk_need_mib(study(f"factors: {{{densities}}}\n", mixes))
    assert (
        disk_need_mib(study(f"factors: {{{densities}, store: {synced}}}\n", mixes)) == plain + 128
    )


def test_what_accumulo_has_replaced_takes_disk_until_it_is_collected() -> None:
    mixes = "workloads: [{ycsb: {records: [1_000_000], mixes: [a], threads: [8]}}]\n"
    plain = disk_need_mib(study("factors: {vms_per_host: [1]}\n", mixes))
    both = disk_need_mib(study("factors: {vms_per_host: [1], store: [hbase, accumulo]}\n", mixes))
    assert both - LOGS_MIB == 2 * (plain - LOGS_MIB)
