"""The recipe of each stack, by name and versions.

Hadoop and HBase have one pom.xml each, for any version on Maven Central, and a lock for each version. The
shipped locks lie beside the pom; `study stack add` writes others to the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import StoreStack, stores
from density_study.cluster.model.versions import (
    HADOOP,
    HBASE,
    VERSIONS,
    ZOOKEEPER,
    Versions,
    numbers,
)
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.recipe import LOCKS, Recipe

_HERE = Path(__file__).resolve().parent
_TESTS = _HERE.parents[1] / "tests" / "unit" / "workloads" / "ycsb"
_SUFFIX = ".sha256"
NEWEST_ZOOKEEPER = "3.9.5"
# YARN's own pages (cluster, node, proxy) are in its jars; those of HDFS and HBase are in none.
_HADOOP_WEBAPPS = ("webapps/hdfs", "webapps/secondary", "webapps/datanode", "webapps/static")
_HBASE_WEBAPPS = ("hbase-webapps/master", "hbase-webapps/regionserver", "hbase-webapps/static")
_OF_EVERY_STORE = (
    "Authorities", "Barrier", "CleanUpLog", "Failures", "InsertLog", "LoadSchedule",
    "ScheduledWorkload", "StudyWorkload", "ThinkTimed", "TurnsWorkload", "WarmClient",
    "WrappingWorkload", "YcsbKeys",
)  # fmt: skip
"""Classes of the HBase binding that the bindings for other stores also need."""


def _hadoop(versions: Versions) -> Recipe:
    return Recipe(
        "hadoop",
        versions.hadoop,
        _HERE / "hadoop",
        webapps=_HADOOP_WEBAPPS,
        lock_name=f"{LOCKS}/{versions.hadoop}{_SUFFIX}",
        properties={"hadoop.version": versions.hadoop},
    )


def _hbase(versions: Versions) -> Recipe:
    """Its client of HDFS has the version of the DataNodes, so there is a tree for each pair of versions."""
    hadoop = _hadoop(versions)
    return Recipe(
        "hbase",
        versions.hbase,
        _HERE / "hbase",
        webapps=_HBASE_WEBAPPS,
        lock_name=f"{LOCKS}/{versions.hbase}+{versions.hadoop}{_SUFFIX}",
        properties={
            "hbase.version": versions.hbase,
            "hadoop.version": versions.hadoop,
            "netty.version": _netty(hadoop) if hadoop.lock.exists() else "",
        },
    )


def _netty(hadoop: Recipe) -> str:
    """The release of netty that this Hadoop brings: HBase's HDFS client must not mix two of them."""
    prefix = "netty-handler-"
    found = next(name for name in read_lock(hadoop).jars if name.startswith(prefix))
    return found.removeprefix(prefix).removesuffix(".jar")


def _ycsb(versions: Versions) -> Recipe:
    """HBase's client has one version, whatever the servers have: only they differ between two variants. An
    existing cluster is measured by a client of its own version, where that is locked."""
    directory = _HERE.parents[1] / "workloads" / "ycsb" / "java"
    tests = _TESTS / "java"
    plain = Recipe("ycsb", "0.17.0", directory, built="density-ycsb-hbase-0.17.0.jar", tests=tests)
    if versions.client == HBASE:
        return plain
    lock_name = f"{LOCKS}/{versions.client}{_SUFFIX}"
    return replace(plain, lock_name=lock_name, properties={"hbase.version": versions.client})


def hadoop_client_of(hadoop: str) -> str:
    """The version of the client for a cluster whose HDFS says that it is `hadoop`: the same if its jars are
    locked, else the nearest one of Hadoop 3. InputError for another major version: its protocols differ."""
    _check_major("Hadoop", hadoop, (3,))
    theirs = numbers(hadoop)[:3]
    known = [one.hadoop for one in locked_versions() if one.hbase == HBASE]
    return (
        hadoop if hadoop in known else min(known, key=lambda ours: _distance(theirs, numbers(ours)))
    )


def _check_major(what: str, version: str, spoken: tuple[int, ...]) -> None:
    if numbers(version)[:1] not in [(major,) for major in spoken]:
        majors = " or ".join(map(str, spoken))
        raise InputError(
            f"the cluster has {what} {version or 'of an unknown version'}, and this client speaks to "
            f"{what} {majors}.",
            f"version of {what.lower()}",
            f"measure a cluster with {what} {majors}.",
        )


def _distance(theirs: tuple[int, ...], ours: tuple[int, ...]) -> tuple[int, ...]:
    """By the minor release, then by the patch release; of two as far, the newer one."""
    apart = tuple(abs(one - other) for one, other in zip(theirs[1:], ours[1:3], strict=False))
    return (*apart, *(-number for number in ours))


def client_of(hbase: str) -> str:
    """The version of the client for a cluster whose HBase says that it is `hbase`: the same if its jars are
    locked, else the default. InputError for HBase 1, to which it does not speak, and for versions to come."""
    _check_major("HBase", hbase, (2, 3))
    for client in (hbase, f"{hbase}-hadoop3"):
        if client == HBASE or _ycsb(Versions(client=client)).lock.exists():
            return client
    return HBASE


def _profiler(_: Versions) -> Recipe:
    """async-profiler; of no cluster, so that only a study that asks for it fetches it."""
    return Recipe("profiler", "4.5", _HERE / "profiler")


def _flightrules(_: Versions) -> Recipe:
    """The rules of JDK Mission Control; fetched as the profiler is."""
    return Recipe("flightrules", "9.1.0", _HERE / "flightrules")


def _ycsb_stores(_: Versions) -> Recipe:
    """The bindings for other stores, on a class path without HBase."""
    java = _HERE.parents[1] / "workloads" / "ycsb" / "java"
    ycsb = java / "src" / "main" / "java" / "org" / "densitystudy" / "ycsb"
    return Recipe(
        "ycsb-stores",
        "0.17.0",
        java / "stores",
        built="density-ycsb-stores-0.17.0.jar",
        shared=tuple(ycsb / f"{name}.java" for name in _OF_EVERY_STORE),
        tests=_TESTS / "java_stores",
    )


def _zookeeper(versions: Versions) -> Recipe:
    """Its server, for studies that name a version."""
    version = versions.zookeeper or NEWEST_ZOOKEEPER
    return Recipe(
        ZOOKEEPER,
        version,
        _HERE / "zookeeper",
        lock_name=f"{LOCKS}/{version}{_SUFFIX}",
        properties={"zookeeper.version": version},
    )


def _examples(_: Versions) -> Recipe:
    """TeraSort's jar, of one version whatever the cluster has: only that differs between two variants."""
    return Recipe("hadoop-examples", HADOOP, _HERE / "examples")


def _gatk(_: Versions) -> Recipe:
    """GATK, for pipelines that name it."""
    return Recipe("gatk", "4.6.2.0", _HERE / "gatk")


RECIPES: dict[str, Callable[[Versions], Recipe]] = {
    "hadoop": _hadoop,
    "hbase": _hbase,
    "ycsb": _ycsb,
}


TOOLS: dict[str, Callable[[Versions], Recipe]] = {
    "profiler": _profiler,
    "flightrules": _flightrules,
    "ycsb-stores": _ycsb_stores,
    "gatk": _gatk,
    "hadoop-examples": _examples,
    ZOOKEEPER: _zookeeper,
}


def further_recipes() -> Mapping[str, Callable[[Versions], Recipe]]:
    """The recipes of stacks that are fetched when needed: tools, and software of stores."""
    brought = filter(None, (store.stack for store in stores().values()))
    return {**TOOLS, **{one.name: partial(_brought, one) for one in brought}}


def _brought(stack: StoreStack, _: Versions) -> Recipe:
    return Recipe(stack.name, stack.version, stack.folder)


def recipe_of(name: str, versions: Versions = VERSIONS) -> Recipe:
    """The recipe registered under `name`, by default of the default versions. InputError names those that
    exist."""
    if name in RECIPES:
        return RECIPES[name](versions)
    known = further_recipes()
    if name not in known:
        raise InputError(
            f"stack {name!r} does not exist.", "stack", f"use one of {', '.join(RECIPES)}, or all."
        )
    return known[name](versions)


def stacks_of(versions: Versions) -> tuple[str, ...]:
    """Names of the stacks that a cluster of these versions has of Maven Central."""
    return ("hadoop", "hbase", *((ZOOKEEPER,) if versions.zookeeper else ()))


def locked_versions() -> Iterator[Versions]:
    """Every pair of Hadoop and HBase that has locks, shipped ones and added ones."""
    folders = (_HERE / "hbase" / LOCKS, cache_root() / LOCKS / "hbase")
    names = {path.stem for folder in folders for path in folder.glob(f"*+*{_SUFFIX}")}
    for name in sorted(names):
        hbase, hadoop = name.split("+")
        versions = Versions(hadoop, hbase)
        if _hadoop(versions).lock.exists():
            yield versions
