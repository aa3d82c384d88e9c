"""`Stacks`: the software one cluster is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.versions import JARS, NATIVE, VERSIONS, ZOOKEEPER, Versions
from density_study.cluster.render.blueprint import InstallDirs
from density_study.cluster.stack import Java, Stack, classpath, ensure, ensure_all
from density_study.cluster.stack.archive import ensure_archives
from density_study.cluster.stack.brought.bring import site_properties
from density_study.cluster.stack.machine_software import THIS_MACHINE, MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware
from density_study.cluster.stores.store import cluster_store


@dataclass(frozen=True)
class Stacks:
    """Java, as the nodes' machines have it, and the two trees that every node of a cluster uses.
    `client_java`: of HBase's clients.
    `store`: what the cluster's store has of its own. `disclosed`: names of those of the two that it uses."""

    java: Java
    client_java: Java
    hadoop: Stack
    hbase: Stack
    store: StoreSoftware | None = None
    disclosed: tuple[str, ...] = ("hadoop", "hbase")
    native: Stack | None = None
    jars: Stack | None = None
    zookeeper: Stack | None = None

    def install_dirs(self, place: Callable[[PurePath | str], str] = str) -> InstallDirs:
        """Where they are on every node. `place`: the nodes' path of a file of the controller's stacks; by
        default the same."""
        program, servers = (
            (None, ()) if self.store is None else (self.store.program, self.store.classpath)
        )
        return InstallDirs(
            java=self.daemon_java.home,
            client_java=self.client_java.home,
            hadoop=PurePath(place(self.hadoop.home)),
            hbase=PurePath(place(self.hbase.home)),
            hadoop_classpath=tuple(map(place, classpath(self.hadoop))),
            hbase_classpath=tuple(map(place, (*classpath(self.hbase), *self._further))),
            store=program and PurePath(place(program)),
            store_classpath=tuple(map(place, servers)),
            zookeeper_classpath=tuple(map(place, classpath(self.zookeeper)))
            if self.zookeeper
            else (),
            native=PurePath(place(self.native.home / "lib")) if self.native else None,
            hbase_properties=site_properties(self.jars.home) if self.jars else {},
        )

    @property
    def _further(self) -> tuple[str, ...]:
        """Jars of the user, behind HBase's own: a class-data archive binds to the jars before them."""
        return classpath(self.jars)[:-1] if self.jars else ()

    @property
    def daemon_java(self) -> Java:
        return (self.store.java if self.store else None) or self.java

    def disclose(self) -> dict[str, Any]:
        """Versions, and one hash over all jars of each tree."""
        return {
            "java": self.daemon_java.version,
            "client_java": self.client_java.version,
            **{one.name: {"sha256": one.jars_sha256} for one in (self.native, self.jars) if one},
            **{
                stack.name: {"version": stack.version, "jars_sha256": stack.jars_sha256}
                for stack in (self.hadoop, self.hbase, self.zookeeper)
                if stack and stack.name in (*self.disclosed, ZOOKEEPER)
            },
        }


def ensure_stacks(
    versions: Versions = VERSIONS,
    store: Store | None = None,
    machine: MachineSoftware = THIS_MACHINE,
) -> Stacks:
    """The stacks, made if not in the cache; Java and what the store needs, as `machine` has them, where
    the nodes are. By default that is here: then class-data archives are made, too (YCSB's among them).

    InputError if one is missing or cannot be made.
    """
    java, client_java = machine.java(versions.java), machine.java()
    used = cluster_store(store or default_store())
    hadoop, hbase, ycsb, *_ = ensure_all(("hadoop", "hbase", *used.client_stacks), versions)
    if machine is THIS_MACHINE:
        ensure_archives((hadoop, hbase), java, versions.java)
        ensure_archives((ycsb,), client_java)
    software = used.software(machine) if used.own_software else None
    needed = versions.with_brought(used.stacks)  # no record names what its store does not run
    native, jars, zookeeper = (
        ensure(name, versions) if name in needed else None for name in (NATIVE, JARS, ZOOKEEPER)
    )
    return Stacks(java, client_java, hadoop, hbase, software, used.stacks, native, jars, zookeeper)


def moved(path: PurePath | str, homes: Mapping[PurePath, PurePath]) -> str:
    """`path` if its stack's home is moved: `homes` maps the controller's to the nodes'. Other paths stay."""
    for here, there in homes.items():
        if PurePath(path).is_relative_to(here):
            return str(there / PurePath(path).relative_to(here))
    return str(path)
