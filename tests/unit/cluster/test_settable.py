"""What a study may set: everything but what a build, its memory or its measurement depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.render.conf_files import fixed_properties
from density_study.cluster.render.settable import (
    HEAP_SHARE,
    HEAP_SHARES,
    flag_fault,
    heap_shares_fault,
    property_fault,
)


def fault(name: str, value: str = "1") -> str:
    return property_fault(name, "hbase-site", {"hbase-site": {name: value}})


@pytest.mark.parametrize("name", sorted(fixed_properties()))
def test_whatever_the_templates_fix_is_refused_by_name_and_file(name: str) -> None:
    assert fault(name).startswith(f"{name} is set by this project in {fixed_properties()[name]}: ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("yarn.nodemanager.resource.memory-mb", "divides the memory"),
        ("mapreduce.map.java.opts", "YARN containers are equal"),
        ("mapreduce.reduce.speculative", "measured once and whole"),
        ("hbase.regionserver.region.split.policy", "a split inside a trial"),
        ("dfs.storage.default.policy", "compare disk types by factors.disk_type"),
        ("yarn.resourcemanager.connect.retry-interval.ms", "heartbeat"),
        ("dfs.permissions.enabled", "started, secured, recorded and removed"),
        ("hbase.bucketcache.ioengine", "write block_cache instead"),
    ],
)
def test_the_reason_fits_the_property(name: str, reason: str) -> None:
    assert reason in fault(name)


@pytest.mark.parametrize(
    "name",
    [
        "hfile.block.cache.size",
        "hbase.regionserver.global.memstore.size",
        "hbase.wal.provider",
        "hbase.regionserver.handler.count",
        "io.file.buffer.size",
        "mapreduce.task.io.sort.mb",
        "dfs.datanode.handler.count",
    ],
)
def test_settings_of_the_system_under_test_may_be_set(name: str) -> None:
    assert fault(name) == ""


def test_memory_that_needs_the_native_library_is_refused() -> None:
    def fault_of(value: str) -> str:
        locked = {"dfs.datanode.max.locked.memory": value}
        return property_fault("dfs.datanode.max.locked.memory", "hdfs-site", {"hdfs-site": locked})

    assert "need the native library" in fault_of("67108864")
    assert "the tier hdfs_pmem of factors.tier needs none" in fault_of("67108864")
    folder = {"dfs.datanode.pmem.cache.dirs": "/mnt"}
    said = property_fault("dfs.datanode.pmem.cache.dirs", "hdfs-site", {"hdfs-site": folder})
    assert "write the tier hdfs_pmem of factors.tier instead" in said
    assert fault_of("0") == ""


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("dfs.data.dir", "dfs.datanode.data.dir"),
        ("fs.default.name", "fs.defaultFS"),
        ("mapred.map.max.attempts", "mapreduce.map.maxattempts"),
        ("hbase.unsafe.regionserver.hostname", "hbase.regionserver.hostname"),
    ],
)
def test_another_name_of_what_the_templates_fix_is_refused_too(name: str, ours: str) -> None:
    assert f"{name} is set by this project, under the name {ours}, in " in fault(name)


def test_a_deprecated_name_is_refused_with_its_present_one() -> None:
    assert fault("dfs.block.size") == "dfs.block.size is a deprecated name; write dfs.blocksize"
    assert fault("dfs.blocksize", "256m") == ""


def test_short_circuit_reads_are_possible_without_the_native_library() -> None:
    on = {"dfs.client.read.shortcircuit": "true"}
    legacy = {"dfs.client.use.legacy.blockreader.local": "true"}
    name = "dfs.client.read.shortcircuit"
    assert "native library" in property_fault(name, "hdfs-site", {"hdfs-site": on})
    assert property_fault(name, "hdfs-site", {"hdfs-site": on | legacy}) == ""
    assert property_fault(name, "hdfs-site", {"hdfs-site": {name: "false"}}) == ""


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("hbase.regionserver.handler.count", "0", "of at least 1, not '0': fewer than one serves nothing"),
        ("hbase.regionserver.handler.count", "60m", "without a unit, not '60m': a daemon that reads it ends"),
        ("hbase.regionserver.handler.count", "2147483648", "up to 2,147,483,647"),
        ("hbase.ipc.server.callqueue.read.ratio", "1.5", "from 0 to 1, not '1.5': HBase changes other"),
        ("hbase.rs.cacheblocksonwrite", "1", "true or false, not '1': other words count as not set"),
        ("hbase.hstore.compaction.min", "1", "HBase reads less as 2"),
        ("dfs.blocksize", "64k", "of at least 1,048,576, not '64k': the NameNode refuses"),
        ("dfs.blocksize", "1.5g", "a whole number of bytes"),
        ("dfs.datanode.max.transfer.threads", "-1", "of at least 1"),
        ("dfs.heartbeat.interval", "1 min", "ns, us, ms, s, m, h, d"),
        ("mapreduce.task.io.sort.mb", "4096", "from 1 to 2,047"),
        ("mapreduce.map.sort.spill.percent", "80", "a map or reduce does not start"),
    ],
)  # fmt: skip
def test_a_value_with_which_a_daemon_fails_or_lies_is_refused(
    name: str, value: str, reason: str
) -> None:
    assert fault(name, value).startswith(f"{name} is ")
    assert reason in fault(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dfs.blocksize", "256M"),
        ("dfs.client.hedged.read.threadpool.size", "0"),
        ("dfs.datanode.failed.volumes.tolerated", "-1"),
        ("dfs.heartbeat.interval", "3 s"),
        ("hbase.ipc.server.callqueue.handler.factor", ".5"),
        ("hbase.rs.cacheblocksonwrite", "TRUE"),
        ("hbase.of.a.later.version", "0"),
    ],
)
def test_other_values_and_unknown_properties_are_free(name: str, value: str) -> None:
    assert fault(name, value) == ""


@pytest.mark.parametrize("value", ["1g", "-5", "0.4", ""])
def test_the_off_heap_memstore_is_a_number_that_the_memory_check_can_add(value: str) -> None:
    assert "whole number of MiB" in fault("hbase.regionserver.offheap.global.memstore.size", value)


@pytest.mark.parametrize(
    "flag", ["-XX:MaxGCPauseMillis=50", "-Xms1g", "-XX:+AlwaysPreTouch", "-Dhbase.x=y"]
)
def test_a_jvm_flag_of_the_studys_own_is_taken(flag: str) -> None:
    assert flag_fault(flag) == ""


@pytest.mark.parametrize(
    "flag",
    ["-Xmx1g", "-XX:+UseG1GC", "-XX:-UseSerialGC", "-XX:MaxDirectMemorySize=1g", "-Xint",
     "-XX:TieredStopAtLevel=1", "-XX:SharedArchiveFile=/x", "-Djava.io.tmpdir=/x", "-Duser.name=x",
     "-Dlog4j.configuration=x"],
)  # fmt: skip
def test_a_jvm_flag_of_ours_is_refused_with_the_reason(flag: str) -> None:
    assert flag_fault(flag).startswith(f"{flag} is set by this project: ")


@pytest.mark.parametrize("flag", ["-jar", "x", "@file", "-cp /x", "-XX:+A -XX:+B", "-Xss1m\n"])
def test_what_is_no_flag_is_refused(flag: str) -> None:
    assert "is not a JVM flag" in flag_fault(flag)


CACHE, MEMSTORE = HEAP_SHARES


@pytest.mark.parametrize(
    "shares",
    [{}, {CACHE: "0.6", MEMSTORE: "0.2"}, {CACHE: "0.1"}, {CACHE: ".25", MEMSTORE: "0.55"}],
)
def test_shares_of_the_heap_that_hbase_starts_with(shares: dict[str, str]) -> None:
    assert heap_shares_fault(shares) == ""


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ({CACHE: "0.5"}, "90 % of the heap together"),
        ({CACHE: "0.6", MEMSTORE: "0.3"}, "90 % of the heap together"),
        ({MEMSTORE: "40%"}, "from 0 to 1, not '40%'"),
        ({CACHE: "512"}, "from 0 to 1, not '512'"),
    ],
)
def test_shares_with_which_hbase_would_not_start(shares: dict[str, str], reason: str) -> None:
    assert reason in heap_shares_fault(shares)


def test_the_template_has_the_share_that_is_assumed() -> None:
    template = Path("cluster/render/templates/hbase-site.properties").read_text()
    assert all(f"{name} ?= {HEAP_SHARE}\n" in template for name in HEAP_SHARES)
