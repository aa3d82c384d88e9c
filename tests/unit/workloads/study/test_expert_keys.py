"""The keys of an expert: shares of a node, YARN's containers, attributes of the table."""

from __future__ import annotations

import pytest

from density_study.cluster.model.configuration import BlockCache, TableAttributes
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.topology import Topology
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.study.study_file import parse_study

STUDY = """
study: s
hosts: [{name: here, memory: 64 GiB, roles: [master, worker, client]}]
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1, 2]
  configuration:
    expert:
"""
HOST = Host("here", "127.0.0.1", 16, 65536, (Disk("/d", "flash"),), ("master", "worker", "client"))
SHARES = """
      jvm: {regionserver: {heap: 20% of node}}
      block_cache: {place: off-heap, size: 30% of node}
"""


def planned(more: str, tail: str = "") -> Plan:
    study = parse_study(STUDY + more + tail, "s.yaml").study
    return make_plan(study, [HOST])


def variants(plan: Plan) -> list[Topology]:
    return list(plan.built)


def test_shares_are_amounts_of_each_density_and_declared_as_they_are_written() -> None:
    one, two = variants(planned(SHARES))
    amounts = []
    for topology in (one, two):
        own, node = topology.configuration, topology.workers[0]
        heap = daemon_heaps(node, own, topology.variant.sizing)["regionserver"]
        assert heap == node.memory_mib * 20 // 100
        assert own.block_cache == BlockCache("off-heap", node.memory_mib * 30 // 100, percent=30.0)
        assert topology.declared["configuration.jvm.regionserver.heap"] == "20% of node"
        assert topology.declared["configuration.block_cache"] == "off-heap, 30% of node"
        amounts.append(len(topology.workers) * heap)
    assert abs(amounts[0] - amounts[1]) <= 2


@pytest.mark.parametrize(
    ("more", "key", "said"),
    [
        ("{jvm: {regionserver: {heap: 60% of node}}, block_cache: {place: off-heap, size: 50% of node}}",
         "factors.configuration", "110% of a node"),
        ("{jvm: {namenode: {heap: 10% of node}}}", "jvm.namenode.heap", "only RegionServers"),
        ("{block_cache: {place: flash, size: 10% of node}}", "block_cache.size", "a file on flash"),
        ("{jvm: {regionserver: {heap: 60%}}}", "jvm.regionserver.heap", "write, for example, 60% of node"),
        ("{jvm: {regionserver: {heap: 160% of node}}}", "jvm.regionserver.heap", "up to 100"),
        ("{table: {compression: zstd}}", "table.compression", "needs jars that HBase's stack has not"),
        ("{table: {compression: gzip}}", "table.compression", "gz"),
        ("{table: {block_size: 64}}", "table.block_size", "has no unit"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_error_that_names_the_key(more: str, key: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(f"      {more}\n")
    assert key in f"{caught.value.where} {'.'.join(map(str, caught.value.key))}"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("codec", "more"), [("snappy", ""), ("gz", ""), ("zstd", "stack: {jars: 0123456789ab}\n")]
)
def test_codecs_of_hbases_own_jars_and_of_those_of_the_user_are_taken(
    codec: str, more: str
) -> None:
    made = planned(f"      {{table: {{compression: {codec}}}}}\n{more}")
    found = {one.configuration.table.compression for one in made.topologies.values()}
    assert codec.upper() in found


def test_what_a_share_may_take_at_most_is_what_fits() -> None:
    with pytest.raises(InputError) as caught:
        planned("      {jvm: {regionserver: {heap: 99% of node}}}\n")
    most = caught.value.remedy.split("at most ")[1].split("%")[0]
    assert planned(f"      {{jvm: {{regionserver: {{heap: {most}% of node}}}}}}\n")


def test_yarns_containers_follow_the_hosts_unless_the_study_says_otherwise() -> None:
    usual = variants(planned("      {}\n"))[0]
    own = variants(planned("      {}\n", "stack: {yarn: {share: 10%, container: 2 GiB}}\n"))
    assert usual.variant.sizing.container_mib == 512
    for topology in own:
        assert topology.variant.sizing.container_mib == 2048
        assert all(node.container_mib % 2048 == 0 for node in topology.workers)
    shares = [sum(node.container_mib for node in one.workers) for one in (usual, *own)]
    assert shares[0] > shares[1] == shares[2]
    with pytest.raises(InputError, match="too small for a JVM of Hadoop"):
        planned("      {}\n", "stack: {yarn: {container: 64 MiB}}\n")


def test_attributes_of_the_table_are_declared_and_passed_to_its_creation() -> None:
    (topology, _) = variants(
        planned("      {table: {compression: gz, encoding: fast_diff, prefetch: true}}\n")
    )
    table = topology.configuration.table
    assert table == TableAttributes("GZ", "FAST_DIFF", "ROW", 65536, True)
    assert table.arguments == (
        "--compression",
        "GZ",
        "--encoding",
        "FAST_DIFF",
        "--prefetch",
        "true",
    )
    assert topology.declared["configuration.table.encoding"] == "FAST_DIFF"
    assert TableAttributes(block_bytes=8192).arguments == ("--block-size", "8192")
    assert TableAttributes().arguments == ()
