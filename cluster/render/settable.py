"""What a study may set: properties and JVM flags, or the reason why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from density_study.cluster.model.configuration import OFF_HEAP_MEMSTORE, Site
from density_study.cluster.render.conf_files import fixed_properties
from density_study.cluster.render.jvm_flags import form_fault
from density_study.cluster.render.plain_values import value_fault

_HDFS_CACHE = "write the tier hdfs_pmem of factors.tier instead: it is filled for reads, and proved"
_TOPOLOGY = "the study gives every daemon its own address, port and directory"
_MEMORY = "the study divides the memory of a host between its nodes, equally in every variant"
_CONTAINERS = "all YARN containers are equal, so that as many run in every variant"
_WHOLE = "a trial is measured once and whole: no retry, no speculation, no early reduce"
_SPEED = "waiting for a heartbeat must not be part of a measurement"
_BLOCK_CACHE = (
    "write block_cache instead: the memory check then knows it, and a file lies on a known disk"
)
_DISK_TYPE = "blocks lie on the disk type of the variant; compare disk types by factors.disk_type"
_JIT = "write stack.jit instead"
_SAFETY = "it is part of how a build is started, secured, recorded and removed"
_REPLICATION = "write stack.replication, which is the same for all variants"
_REASONS: tuple[tuple[str, str], ...] = (
    (r"hbase\.bucketcache\.(ioengine|size|persistent\.path)", _BLOCK_CACHE),
    (r"dfs\.replication", _REPLICATION),
    (r"dfs\.datanode\.pmem\.cache\.dirs", _HDFS_CACHE),
    (r"dfs\.storage\.default\.policy|dfs\.block\.replicator\..*|hbase\.wal\.storage\.policy", _DISK_TYPE),
    (r"hbase\.regionserver\.region\.split\.policy", "a split inside a trial would be part of its result"),
    (r"mapreduce\..*\.(memory\.mb|java\.opts)|yarn\.app\.mapreduce\.am\.(resource\.mb|command-opts)",
     _CONTAINERS),
    (r"yarn\.scheduler\.(minimum|maximum)-allocation-mb|yarn\.nodemanager\.resource\..*", _MEMORY),
    (r"mapreduce\..*(speculative|maxattempts|completedmaps|ubertask\.enable)|.*max-attempts", _WHOLE),
    (r".*(interval|interval-ms|interval\.ms|pollinterval|wakefrequency|max\.retries|max-retries"
     r"|retry\.policy\..*|on\.regionservers\..*|safemode\..*)", _SPEED),
    (r".*(address|port|hostname|dir|dirs|rootdir|quorum|clientPort|defaultFS|file\.name|root-dir"
     r"|mapping\.impl|ip-hostname-check)", _TOPOLOGY),
)  # fmt: skip
"""The first pattern that matches the whole name says why we set it; otherwise it is `_SAFETY`."""
_ON_COMMAND_LINES = (
    "hbase.bucketcache.ioengine",
    "hbase.bucketcache.size",
    "hbase.bucketcache.persistent.path",
    "hbase.regionserver.port",
    "hbase.regionserver.info.port",
    "hbase.server.thread.wakefrequency",
)
"""Properties that the program sets by other means than a file."""
HEAP_SHARES = ("hfile.block.cache.size", "hbase.regionserver.global.memstore.size")
HEAP_SHARE = "0.4"
"""For each of them, unless a study sets it; the template has the same."""
LARGEST_SHARES_PERCENT = 80
_OTHER_RULE = {"hfile.block.cache.memory.size", "hbase.regionserver.free.heap.min.memory.size"}
"""Amounts of memory. HBase compares them with the heap when it starts."""
SHORT_CIRCUIT = "dfs.client.read.shortcircuit"
WITHOUT_SOCKET = "dfs.client.use.legacy.blockreader.local"
_NATIVE = (
    f"short-circuit reads over a domain socket need the native library, which Maven Central does not have; "
    f"add {WITHOUT_SOCKET}: true and dfs.block.local-path-access.user: ${{user.name}}, which need none"
)
LOCKED_MEMORY = "dfs.datanode.max.locked.memory"
_NO_DRAM = (
    "HDFS caches in DRAM and RAM disks need the native library, which Maven Central does not have; without "
    "it, a DataNode does not start, or uses the disk; the tier hdfs_pmem of factors.tier needs none"
)
_FLAG = re.compile(r"-[XD][\x21-\x7e]{1,199}")
_OUR_FLAGS: tuple[tuple[str, str], ...] = (
    (r"-Xmx.*|-XX:(Max|Initial)RAMPercentage=.*|-XX:MaxHeapSize=.*", "write heap instead"),
    (r"-XX:[+-]Use\w+GC", "write collector instead"),
    (r"-XX:MaxDirectMemorySize=.*", f"write block_cache or {OFF_HEAP_MEMSTORE} instead"),
    (r"-XX:(SharedArchiveFile|SharedClassListFile)=.*|-Xshare.*", _SAFETY),
    (r"-XX:((TieredStopAtLevel|Compil(e|ation|er)\w*)=.*|[+-]TieredCompilation)|-Xint|-Xcomp", _JIT),
    (r"-XX:[+-](ExitOnOutOfMemoryError|UsePerfData)", _SAFETY),
    (r"-D(java\.io\.tmpdir|java\.net\.preferIPv4Stack|log4j\..*|study\..*|user\..*)=?.*", _SAFETY),
)  # fmt: skip


def property_fault(name: str, site: Site, properties: Mapping[Site, Mapping[str, str]]) -> str:
    """Why a study cannot set this property; empty if it can."""
    ours = name if name in _fixed() else _same_as_ours().get(present_name(name), "")
    if ours:
        file = _fixed()[ours]
        reason = next((why for form, why in _REASONS if re.fullmatch(form, ours)), _SAFETY)
        other = f", under the name {ours}," if ours != name else ""
        return f"{name} is set by this project{other}{f' in {file}' if file else ''}: {reason}"
    if present_name(name) != name:
        return f"{name} is a deprecated name; write {present_name(name)}"
    if name == SHORT_CIRCUIT and properties[site][name] == "true":
        legacy = [one.get(WITHOUT_SOCKET) for one in properties.values()]
        return "" if "true" in legacy else f"{name}: {_NATIVE}"
    if name == LOCKED_MEMORY and properties[site][name].strip() != "0":
        return f"{name}: {_NO_DRAM}"
    if name == OFF_HEAP_MEMSTORE and not re.fullmatch(r"\d{1,7}", properties[site][name]):
        return f"{name} is a whole number of MiB, not {properties[site][name]!r}"
    return value_fault(name, properties[site][name])


def heap_shares_fault(hbase: Mapping[str, str]) -> str:
    """Why a RegionServer would not start with these shares in hbase-site; empty if it would."""
    if _OTHER_RULE & hbase.keys():
        return ""
    shares = {name: hbase.get(name, HEAP_SHARE) for name in HEAP_SHARES}
    for name, value in shares.items():
        if not re.fullmatch(r"0?\.\d+|[01](\.0*)?", value):
            return f"{name} is a share of the heap from 0 to 1, not {value!r}"
    total = sum(round(100 * float(value)) for value in shares.values())
    if total > LARGEST_SHARES_PERCENT:
        return (
            f"{' and '.join(shares)} are {total} % of the heap together; HBase starts with "
            f"{LARGEST_SHARES_PERCENT} % at most, so lower the other one too"
        )
    return ""


def flag_fault(flag: str) -> str:
    """Why a study cannot give a JVM this flag; empty if it can."""
    if not _FLAG.fullmatch(flag):
        return f"{flag!r} is not a JVM flag; write one that starts with -X or -D, without spaces"
    reason = next((why for form, why in _OUR_FLAGS if re.fullmatch(form, flag)), "")
    return f"{flag} is set by this project: {reason}" if reason else form_fault(flag)


def present_name(name: str) -> str:
    """The name that Hadoop and HBase read for this one."""
    return _deprecated().get(name, name)


@cache
def _deprecated() -> Mapping[str, str]:
    """Deprecated name -> present name."""
    lines = Path(__file__).with_name("deprecated.txt").read_text().splitlines()
    pairs = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {old: new for old, _, new in pairs}


@cache
def _same_as_ours() -> Mapping[str, str]:
    """The present name of each property that we set -> the name by which we set it."""
    return {present_name(name): name for name in _fixed()}


@cache
def _fixed() -> Mapping[str, Site | None]:
    return {**dict.fromkeys(_ON_COMMAND_LINES, None), **fixed_properties()}
