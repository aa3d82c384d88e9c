"""`factors.stack`, `factors.configuration`: levels have names; faulty ones are refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.configuration import PLAIN, BlockCache, Jvm
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import disk_need_mib
from density_study.workloads.study.factors.configuration import CONFIGURATION
from density_study.workloads.study.factors.stack import versions_of
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study

BASE = """
study: s
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1]
"""


def study(factors: str, more: str = "") -> Study:
    return parse_study(BASE + factors + more, "s.yaml").study


def planned(tmp_path: Path, factors: str, more: str = "") -> Plan:
    (tmp_path / "s.yaml").write_text(BASE + factors + more)
    return plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs").plan


def test_levels_of_a_stack_are_named_by_what_they_set() -> None:
    levels = "  stack: [{hadoop: 3.4.1}, {hadoop: 3.4.2, hbase: 2.6.4}, {java: 17}]\n"
    read = study(levels, "stack: {hadoop: 3.5.0}\n")
    assert read.factors.levels("stack") == ("hadoop-3.4.1", "hadoop-3.4.2-hbase-2.6.4", "java-17")
    assert versions_of(read) == (Versions("3.4.1"), Versions("3.4.2"), Versions("3.5.0", java=17))


def test_native_libraries_are_a_level_and_declared() -> None:
    read = study("  stack: [{hadoop: 3.4.2}, {native: 0123456789ab}]\n")
    assert read.factors.levels("stack") == ("hadoop-3.4.2", "native-0123456789ab")
    assert versions_of(read) == (Versions("3.4.2"), Versions("3.4.2", native="0123456789ab"))
    whole = study("", "stack: {native: 0123456789ab}\n").stack.versions
    assert whole == Versions("3.4.2", native="0123456789ab")


def test_hadoop_3_5_runs_without_the_security_manager() -> None:
    factors = study("  stack: [{hadoop: 3.5.0, java: 17}, {hadoop: 3.5.0, java: 25}]\n").factors
    assert factors.levels("stack") == ("hadoop-3.5.0-java-17", "hadoop-3.5.0-java-25")


@pytest.mark.parametrize(
    ("written", "version"),
    [("2.6.4", "2.6.4-hadoop3"), ("2.6.4-hadoop3", "2.6.4-hadoop3"), ("3.0.0", "3.0.0")],
)
def test_hbase_2_is_the_one_for_hadoop_3(written: str, version: str) -> None:
    read = study("", f"stack: {{hbase: {written}}}\n")
    assert read.stack.versions == Versions(hbase=version)


def test_a_configuration_is_read_as_hadoop_reads_it() -> None:
    text = """
  configuration:
    mine:
      hbase-site: {hbase.regionserver.handler.count: 60, hfile.block.cache.size: 0.3}
      hdfs-site: {dfs.client.socket.send.buffer.size: 0, dfs.datanode.drop.cache.behind.reads: true}
      jvm:
        regionserver: {heap: 1 GiB, collector: ZGC, flags: [-XX:+AlwaysPreTouch]}
      block_cache: {place: off-heap, size: 512 MiB}
"""
    (found,) = (one.configuration() for one in study(text).factors.of(CONFIGURATION).values())
    assert found.properties["hbase-site"] == {
        "hbase.regionserver.handler.count": "60", "hfile.block.cache.size": "0.3"
    }  # fmt: skip
    assert found.properties["hdfs-site"]["dfs.datanode.drop.cache.behind.reads"] == "true"
    assert found.of("regionserver") == Jvm(1024, "ZGC", ("-XX:+AlwaysPreTouch",))
    assert found.of("datanode") == Jvm()
    assert found.block_cache == BlockCache("off-heap", 512)
    assert found.off_heap_mib == 512


def test_off_heap_memory_of_the_memstore_counts_too() -> None:
    text = """
  configuration:
    mine:
      hbase-site: {hbase.regionserver.offheap.global.memstore.size: 200}
      block_cache: {place: off-heap, size: 300 MiB}
"""
    (found,) = (one.configuration() for one in study(text).factors.of(CONFIGURATION).values())
    assert found.off_heap_mib == 500


IN_STACK, IN_CONFIGURATION = "factors.stack", "factors.configuration"


@pytest.mark.parametrize(
    ("factors", "key", "message"),
    [
        ("  stack: [{}]\n", f"{IN_STACK}[0]",
         "at least one of hadoop, hbase, zookeeper, java, native, jars, tarball"),
        ("  stack: [{hadoop: 3.4}]\n", f"{IN_STACK}[0].hadoop", "write text"),
        ("  stack: [{hadoop: newest}]\n", f"{IN_STACK}[0].hadoop", "a version on Maven Central"),
        ("  stack: [{java: 11}]\n", f"{IN_STACK}[0].java", "it must be 17 or more"),
        ("  stack: [{java: 25}]\n", IN_STACK, "Hadoop 3.4.2 does not run on Java 25"),
        ("  stack: [{hadoop: 3.4.10, java: 25}]\n", IN_STACK, "Hadoop 3.5.0 does not need it"),
        ("  stack: [{hadoop: 3.4.1}, {hadoop: 3.4.1}]\n", IN_STACK, "duplicate stack"),
        ("  stack: [{hadoop: 3.4.2}, {hbase: 2.6.4}]\n", IN_STACK, "nothing to compare"),
        ("  configuration: {}\n", IN_CONFIGURATION, "1 or more"),
        ("  configuration: {a: {}, b: {}}\n", IN_CONFIGURATION, "b is the same as a"),
        ("  configuration: {A_b: {}}\n", f"{IN_CONFIGURATION}.A_b", "lower-case letters"),
        ("  configuration: {a: {hive-site: {x.y: 1}}}\n", f"{IN_CONFIGURATION}.a.hive-site", "unknown"),
        ("  configuration: {a: {hdfs-site: {dfs.replication: 3}}}\n",
         f"{IN_CONFIGURATION}.a.hdfs-site.dfs.replication", "write stack.replication"),
        ("  configuration: {a: {hbase-site: {hbase.regionserver.port: 1}}}\n",
         f"{IN_CONFIGURATION}.a.hbase-site.hbase.regionserver.port", "gives every daemon its own address"),
        ("  configuration: {a: {hbase-site: {hbase.bucketcache.size: 64}}}\n",
         f"{IN_CONFIGURATION}.a.hbase-site.hbase.bucketcache.size", "write block_cache instead"),
        ("  configuration: {a: {hdfs-site: {dfs.client.read.shortcircuit: true}}}\n",
         f"{IN_CONFIGURATION}.a.hdfs-site.dfs.client.read.shortcircuit", "need the native library"),
        ("  configuration: {a: {hdfs-site: {dfs.namenode.rpc-bind-host: 0.0.0.0}}}\n",
         f"{IN_CONFIGURATION}.a.hdfs-site.dfs.namenode.rpc-bind-host", "not for a study to set"),
        ("  configuration: {a: {jvm: {regionserver: {flags: [-Xmx2g]}}}}\n",
         f"{IN_CONFIGURATION}.a.jvm.regionserver.flags[0]", "write heap instead"),
        ("  configuration: {a: {jvm: {regionserver: {flags: ['-XX:+UseZGC']}}}}\n",
         f"{IN_CONFIGURATION}.a.jvm.regionserver.flags[0]", "write collector instead"),
        ("  configuration: {a: {jvm: {regionserver: {flags: ['-jar x']}}}}\n",
         f"{IN_CONFIGURATION}.a.jvm.regionserver.flags[0]", "not a JVM flag"),
        ("  configuration: {a: {jvm: {region: {}}}}\n", f"{IN_CONFIGURATION}.a.jvm.region", "'regionserver'"),
        ("  configuration: {a: {block_cache: {place: flash, size: 1 MiB}}}\n",
         f"{IN_CONFIGURATION}.a.block_cache.size", "needs 64 MiB"),
        ("  configuration: {a: {block_cache: {place: disk, size: 1 GiB}}}\n",
         f"{IN_CONFIGURATION}.a.block_cache.place", "'off-heap', 'flash' or 'hdd'"),
    ],
)  # fmt: skip
def test_a_faulty_level_is_one_error_with_place_and_reason(
    factors: str, key: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        study(factors)
    assert caught.value.where.partition(", key ")[2].startswith(key)
    assert caught.value.where.startswith("s.yaml:")
    assert message in caught.value.what


def test_every_combination_is_a_topology_named_by_its_levels(tmp_path: Path) -> None:
    text = """
  disk_type: [flash]
  stack: [{hadoop: 3.4.1}, {hadoop: 3.4.2}]
  configuration: {plain: {}, zgc: {jvm: {regionserver: {collector: ZGC}}}}
"""
    plan = planned(tmp_path, text)
    assert list(plan.topologies) == [
        "v1-flash-hadoop-3.4.1-plain", "v1-flash-hadoop-3.4.1-zgc",
        "v1-flash-hadoop-3.4.2-plain", "v1-flash-hadoop-3.4.2-zgc",
    ]  # fmt: skip
    last = plan.topologies["v1-flash-hadoop-3.4.2-zgc"]
    assert last.levels == {"stack": "hadoop-3.4.2", "configuration": "zgc"}
    assert (last.variant.versions, last.order) == (VERSIONS, 3)
    assert last.declared == {
        "vms_per_host": "1", "regionservers_per_node": "1", "disk_type": "flash",
        "stack.hadoop": "3.4.2", "stack.hbase": "2.6.4-hadoop3",
        "configuration.jvm.regionserver.collector": "ZGC",
    }  # fmt: skip
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_study_without_these_factors_is_planned_as_before(tmp_path: Path) -> None:
    (topology,) = planned(tmp_path, "").topologies.values()
    assert (topology.name, topology.levels) == ("v1-flash", {})
    assert (topology.variant.versions, topology.variant.configuration) == (VERSIONS, PLAIN)


def test_the_plan_names_the_command_that_adds_an_unknown_version(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Hadoop 3\.4\.0, HBase 2\.6\.4-hadoop3") as caught:
        planned(tmp_path, "  stack: [{hadoop: 3.4.0}, {hadoop: 3.4.1}]\n")
    assert "`study stack add hadoop 3.4.0`" in caught.value.remedy
    with pytest.raises(InputError) as caught:
        planned(tmp_path, "", "stack: {hadoop: 3.4.0, hbase: 2.6.3}\n")
    assert "`study stack add hbase 2.6.3-hadoop3 --hadoop 3.4.0`" in caught.value.remedy


def test_off_heap_memory_that_does_not_fit_is_refused_with_the_amount(tmp_path: Path) -> None:
    text = "  configuration: {big: {block_cache: {place: off-heap, size: 4 GiB}}}\n"
    with pytest.raises(InputError, match="4096 MiB of each RegionServer off-heap") as caught:
        planned(tmp_path, text)
    assert "give the host" in caught.value.remedy


def test_a_cache_that_is_a_file_counts_as_disk_space() -> None:
    file = "  configuration: {a: {block_cache: {place: flash, size: 3 GiB}}}\n"
    off_heap = file.replace("flash", "off-heap")
    assert disk_need_mib(study(file)) == disk_need_mib(study(off_heap)) + 3072


def test_a_block_cache_needs_a_disk_of_its_disk_type(tmp_path: Path) -> None:
    text = "  configuration: {slow: {block_cache: {place: hdd, size: 1 GiB}}}\n"
    with pytest.raises(InputError, match="no disk of type hdd") as caught:
        planned(tmp_path, text)
    assert "key factors.configuration" in caught.value.where


def test_a_hypothesis_may_compare_versions_and_configurations() -> None:
    text = """
  stack: [{hadoop: 3.4.1}, {hadoop: 3.4.2}]
expect:
  - {name: h, workload: load, compare: stack, hadoop-3.4.2_over_hadoop-3.4.1: "> 0.95"}
"""
    (hypothesis,) = study(text).expect
    assert (hypothesis.later, hypothesis.first) == ("hadoop-3.4.2", "hadoop-3.4.1")
    with pytest.raises(InputError, match=r"factors.stack has no 'hadoop-3.4.3'"):
        study(text.replace("hadoop-3.4.2_over", "hadoop-3.4.3_over"))


def test_guests_have_one_java() -> None:
    text = BASE.replace("hosts: [{", "provider: libvirt\nhosts: [{") + "stack: {java: 17}\n"
    guests = "vms: {network: 192.0.2.0/24, addresses: 192.0.2.10-192.0.2.20}\n"
    with pytest.raises(InputError, match="Debian's JDK 17 only"):
        parse_study(text + guests, "s.yaml")
