"""Studies of a store that stands already: their keys, their plan, and what clients are told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.analysis.summarise.software import store_cautions
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import Prometheus, StoreEndpoint
from density_study.cluster.model.topology import Topology
from density_study.dags.cli.plan_page import warnings_of
from density_study.workloads.planning.planned_study import outlined_study
from density_study.workloads.record.recorded import recorded
from density_study.workloads.ycsb.properties import table_on
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.test_case import YcsbTestCase

REDIS = """\
study: our-redis
provider: existing
store: redis
existing:
  endpoint: {addresses: ["10.0.0.5:6379"], user: bench, password_file: /home/me/password}
workloads:
  - ycsb: {records: [1000], mixes: [load, e], threads: [8]}
"""
CASSANDRA = """\
study: our-cassandra
provider: existing
store: {name: cassandra, durability: synced}
existing:
  namespace: bench
  endpoint:
    {addresses: ["a.example:9042", "b.example:9042"], datacenter: dc7, replication: 3, ca_file: ~/ca.pem}
workloads:
  - ycsb: {records: [1000], mixes: [load, a], threads: [8]}
"""
AEROSPIKE = """\
study: our-aerospike
provider: existing
store: {name: aerospike, durability: memory}
existing:
  namespace: bench
  endpoint: {addresses: ["a.example:3000", "b.example:3000"], server_namespace: test}
workloads:
  - ycsb: {records: [1000], mixes: [load, a], threads: [8]}
"""


def topology_of(folder: Path, text: str) -> Topology:
    path = folder / "study.yaml"
    path.write_text(text)
    (topology,) = outlined_study(path).plan.topologies.values()
    return topology


def test_the_plan_has_the_client_alone_and_the_durability_in_the_name(tmp_path: Path) -> None:
    topology = topology_of(tmp_path, REDIS)
    assert (topology.name, topology.provider.name) == ("existing-redis-page-cache", "endpoint")
    assert [node.roles for node in topology.nodes] == [("client",)]
    assert topology.existing is not None
    assert topology.existing.endpoint == StoreEndpoint(
        ("10.0.0.5:6379",), "bench", "/home/me/password", "datacenter1", 1
    )
    record = recorded(topology)
    assert (record.provider, record.variant.disk_type, record.variant.vms_per_host) == (
        "existing",
        "unknown",
        None,
    )
    assert record.levels == {"store": "redis-page-cache"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            REDIS,
            {
                "endpoint": "10.0.0.5:6379",
                "admin": "org.densitystudy.stores.redis.RedisEndpoint",
                "store.user": "bench",
                "store.password.file": "/home/me/password",
                "redis.address": "10.0.0.5:6379",
                "redis.prefix": "density_study:",
            },
        ),
        (
            CASSANDRA,
            {
                "endpoint": "a.example:9042,b.example:9042",
                "admin": "org.densitystudy.stores.cassandra.CassandraEndpoint",
                "store.ca.file": str(Path("~/ca.pem").expanduser()),
                "cassandra.nodes": "a.example:9042,b.example:9042",
                "cassandra.keyspace": "bench",
                "cassandra.datacenter": "dc7",
                "cassandra.replication": "3",
            },
        ),
        (
            AEROSPIKE,
            {
                "endpoint": "a.example:3000,b.example:3000",
                "admin": "org.densitystudy.stores.aerospike.AerospikeEndpoint",
                "aerospike.hosts": "a.example:3000,b.example:3000",
                "aerospike.namespace": "test",
                "aerospike.set": "bench",
            },
        ),
    ],
)
def test_clients_are_told_addresses_and_the_file_of_the_password(
    tmp_path: Path, text: str, told: dict[str, str]
) -> None:
    cluster: Any = SimpleNamespace(topology=topology_of(tmp_path, text))
    assert binding_of(cluster).properties == told
    test_case = YcsbTestCase(mix="c", records=1000, threads=1, duration_s=10.0)
    assert table_on(cluster, test_case) == "usertable_1000"  # the namespace is in the properties


def test_its_hosts_may_be_watched_by_a_prometheus(tmp_path: Path) -> None:
    text = REDIS.replace("existing:\n", "existing:\n  prometheus: {url: https://prom}\n")
    existing = topology_of(tmp_path, text).existing
    assert existing is not None and existing.prometheus == Prometheus("https://prom")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REDIS.replace("store: redis", "store: rocksdb"), "needs one of the stores .*redis, redis-"),
        (REDIS.replace("store: redis\n", ""), "needs one of the stores .*redis, redis-"),
        (REDIS.replace("6379", "6379, 10.0.0.6:6379").replace('"', ""), "store redis is one server"),
        (REDIS.replace("10.0.0.5:6379", "10.0.0.5"), "an address, HOST:PORT"),
        (REDIS.replace(", password_file: /home/me/password", ""), "user needs password_file"),
        (REDIS.replace("existing:\n", "existing:\n  queue: q\n"), "prometheus beside it, not queue"),
        (REDIS.replace("existing:\n", "existing:\n  folder: /a/b\n"), "not folder"),
        (REDIS + "factors: {cluster: {a: {configuration: /a}, b: {configuration: /b}}}\n", "not endpoints"),
        (REDIS + "factors: {store: [redis]}\n", "takes only the factor cluster"),
        (CASSANDRA.replace("synced", "page_cache"), "no durability page_cache"),
        (CASSANDRA.replace("[load, a]", "[e]"), "no scan from a key on"),
        (AEROSPIKE.replace("[load, a]", "[e]"), "Aerospike places rows by a hash of keys"),
        (AEROSPIKE.replace("memory", "page_cache"), "no durability page_cache: without commit-to-device"),
        (AEROSPIKE.replace(", server_namespace: test", ""), "store aerospike needs server_namespace"),
        (AEROSPIKE.replace("test}", "test, ca_file: /ca.pem}"), "Aerospike has no TLS"),
        (CASSANDRA.replace("replication: 3", "server_namespace: test"), "takes no server_namespace"),
        (AEROSPIKE.replace("server_namespace: test", "server_namespace: 'a;b'"), "the name of a namespace"),
        (
            "provider: existing\nexisting: {configuration: /c, folder: /a/b}\n"
            + REDIS.replace("provider: existing\n", "").split("existing:")[0]
            + "workloads: [{ycsb: {records: [1], mixes: [a], threads: [1]}}]\n",
            "for store redis, add the key endpoint",
        ),
        (
            REDIS.replace("ycsb: {records: [1000], mixes: [load, e], threads: [8]}",
                          "testdfsio: {modes: [write], files: 1, file_size: 1 MiB}"),
            "no HDFS",
        ),
    ],
)  # fmt: skip
def test_what_an_endpoint_cannot_have_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        topology_of(tmp_path, text)


def test_a_plan_of_aerospike_calls_its_binding_untried(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(AEROSPIKE)
    (warning,) = [
        one for one in warnings_of(outlined_study(tmp_path / "study.yaml").plan) if "untried" in one
    ]
    assert "no server was available" in warning
    cluster: Any = SimpleNamespace(topology=topology_of(tmp_path, AEROSPIKE))
    assert binding_of(cluster).db == "org.densitystudy.stores.aerospike.AerospikeRows"
    assert cluster.topology.name == "existing-aerospike-memory"


def test_the_report_calls_the_binding_untried() -> None:
    aerospike: Any = SimpleNamespace(disclosure={"existing": {"caution": "untried"}})
    redis: Any = SimpleNamespace(disclosure={"existing": {"version": "7"}})
    (warning,) = store_cautions([aerospike, redis, aerospike])
    assert (warning.code, warning.message) == ("store-untried", "untried.")
    assert not list(store_cautions([redis]))
