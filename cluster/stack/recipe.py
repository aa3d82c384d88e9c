"""`Recipe`: what a stack is made from. Its key names the assembled tree in the cache.

Hadoop and HBase have one pom.xml each, for any version on Maven Central, and a lock for each version. The
shipped locks lie beside the pom; `study stack add` writes others to the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import HBASE, VERSIONS, Versions
from density_study.cluster.stack.artifact import Artifact
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.lock import read_lock

# Raise it when the shape of the assembled tree changes: old trees are then left alone and not used.
TREE_FORMAT = 3

_HERE = Path(__file__).resolve().parent
_TESTS = _HERE.parents[1] / "tests" / "unit" / "workloads" / "ycsb"
_LOCKS = "locks"
_SUFFIX = ".sha256"
# YARN's own pages (cluster, node, proxy) are in its jars; those of HDFS and HBase are in none.
_HADOOP_WEBAPPS = ("webapps/hdfs", "webapps/secondary", "webapps/datanode", "webapps/static")
_HBASE_WEBAPPS = ("hbase-webapps/master", "hbase-webapps/regionserver", "hbase-webapps/static")
_OF_EVERY_STORE = (
    "Authorities", "Barrier", "CleanUpLog", "Failures", "InsertLog", "LoadSchedule",
    "ScheduledWorkload", "StudyWorkload", "ThinkTimed", "WarmClient", "YcsbKeys",
)  # fmt: skip
"""Classes of the HBase binding that the bindings for other stores need, too."""


@dataclass(frozen=True)
class Recipe:
    """`directory` holds pom.xml, the shipped locks and, where we build a jar ourselves, src/.

    `built` names that jar: it is no third party's and therefore not in the lock.
    `webapps` are empty directories the daemons' web servers look for on the class path.
    `properties` are those of the pom that determine the versions. `shared` are sources of another recipe
    that are compiled too. `tests` are the unit tests of what we build, in a checkout.
    """

    name: str
    version: str
    directory: Path
    built: str | None = None
    webapps: tuple[str, ...] = ()
    lock_name: str = "jars.sha256"
    properties: Mapping[str, str] = field(default_factory=dict)
    shared: tuple[Path, ...] = ()
    tests: Path = _HERE

    @property
    def pom(self) -> Path:
        return self.directory / "pom.xml"

    @property
    def shipped_lock(self) -> Path:
        return self.directory / self.lock_name

    @property
    def own_artifact(self) -> Artifact:
        """The jar that we build."""
        assert self.built is not None
        name = self.built.removesuffix(f"-{self.version}.jar")
        return Artifact(
            self.built, "org.densitystudy", name, self.version, licences=("Apache-2.0",)
        )

    @property
    def tests_lock(self) -> Path:
        """Of the jars that unit tests need beyond the others."""
        return self.directory / "tests.sha256"

    @property
    def sources(self) -> list[Path]:
        """Of the jar that we build."""
        return [*_files(self.directory / "src" / "main"), *self.shared]

    @property
    def own_lock(self) -> Path:
        """Where `study stack add` writes the lock of a version that is not shipped."""
        return cache_root() / _LOCKS / self.name / Path(self.lock_name).name

    @property
    def lock(self) -> Path:
        """The lock in force; it may be missing."""
        own = self.own_lock
        return own if own.exists() and not self.shipped_lock.exists() else self.shipped_lock

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    def key(self) -> str:
        """16 hex digits over the pom and its properties, the lock if there is one yet, and the sources of
        what we build (no tests): other content, other tree."""
        given = "".join(f"{name}={value}\n" for name, value in sorted(self.properties.items()))
        shape = f"tree format {TREE_FORMAT}, {' '.join(self.webapps)}\n{given}"
        digest = hashlib.sha256(shape.encode())
        for path in (self.pom, *_files(self.directory / "src" / "main")):
            _add(digest.update, path.relative_to(self.directory).as_posix(), path)
        for path in self.shared:
            _add(digest.update, path.name, path)
        if self.lock.exists():
            _add(digest.update, self.lock_name, self.lock)
        return digest.hexdigest()[:16]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _add(update: Callable[[bytes], None], name: str, path: Path) -> None:
    content = path.read_bytes()
    update(f"{name} {len(content)}\n".encode() + content)


def _hadoop(versions: Versions) -> Recipe:
    return Recipe(
        "hadoop",
        versions.hadoop,
        _HERE / "hadoop",
        webapps=_HADOOP_WEBAPPS,
        lock_name=f"{_LOCKS}/{versions.hadoop}{_SUFFIX}",
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
        lock_name=f"{_LOCKS}/{versions.hbase}+{versions.hadoop}{_SUFFIX}",
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
    """HBase's client has one version, whatever the servers have: only they differ between two arms. A given
    cluster is measured by a client of its own version, where that is locked."""
    directory = _HERE.parents[1] / "workloads" / "ycsb" / "java"
    tests = _TESTS / "java"
    plain = Recipe("ycsb", "0.17.0", directory, built="density-ycsb-hbase-0.17.0.jar", tests=tests)
    if versions.client == HBASE:
        return plain
    lock_name = f"{_LOCKS}/{versions.client}{_SUFFIX}"
    return replace(plain, lock_name=lock_name, properties={"hbase.version": versions.client})


def client_of(hbase: str) -> str:
    """The version of the client for a cluster whose HBase says that it is `hbase`: the same if its jars are
    locked, else the default."""
    for client in (hbase, f"{hbase}-hadoop3"):
        if client == HBASE or _ycsb(Versions(client=client)).lock.exists():
            return client
    return HBASE


def _profiler(_: Versions) -> Recipe:
    """async-profiler; of no cluster, so that only a study that asks for it fetches it."""
    return Recipe("profiler", "4.5", _HERE / "profiler")


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


def _cassandra(_: Versions) -> Recipe:
    """The servers; their client is in ycsb-stores."""
    return Recipe("cassandra", "5.0.9", _HERE / "cassandra")


def _accumulo(_: Versions) -> Recipe:
    """Its daemons, without HDFS and ZooKeeper, which are those of HBase; their client is in ycsb-stores."""
    return Recipe("accumulo", "2.1.4", _HERE / "accumulo")


def _gatk(_: Versions) -> Recipe:
    """GATK, for pipelines that name it."""
    return Recipe("gatk", "4.6.2.0", _HERE / "gatk")


def _kudu(_: Versions) -> Recipe:
    """The servers, as Linux programs for x86-64; their client is in ycsb-stores."""
    return Recipe("kudu", "1.18.1", _HERE / "kudu")


RECIPES: dict[str, Callable[[Versions], Recipe]] = {
    "hadoop": _hadoop,
    "hbase": _hbase,
    "ycsb": _ycsb,
}


TOOLS: dict[str, Callable[[Versions], Recipe]] = {
    "profiler": _profiler,
    "ycsb-stores": _ycsb_stores,
    "cassandra": _cassandra,
    "accumulo": _accumulo,
    "gatk": _gatk,
    "kudu": _kudu,
}
"""Fetched when they are needed."""


def recipe_of(name: str, versions: Versions = VERSIONS) -> Recipe:
    """The recipe registered under `name`, by default of the default versions. InputError names those that
    exist."""
    known = {**RECIPES, **TOOLS}
    if name not in known:
        raise InputError(
            f"stack {name!r} does not exist.", "stack", f"use one of {', '.join(RECIPES)}, or all."
        )
    return known[name](versions)


def locked_versions() -> Iterator[Versions]:
    """Every pair of Hadoop and HBase that has locks, shipped ones and added ones."""
    folders = (_HERE / "hbase" / _LOCKS, cache_root() / _LOCKS / "hbase")
    names = {path.stem for folder in folders for path in folder.glob(f"*+*{_SUFFIX}")}
    for name in sorted(names):
        hbase, hadoop = name.split("+")
        versions = Versions(hadoop, hbase)
        if _hadoop(versions).lock.exists():
            yield versions
