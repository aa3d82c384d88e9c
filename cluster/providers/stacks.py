"""`Stacks`: the software one cluster is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from density_study.cluster.model.store import HBASE, Store
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.render.blueprint import InstallDirs
from density_study.cluster.stack import Java, Stack, classpath, ensure_all
from density_study.cluster.stack.archive import ensure_archives
from density_study.cluster.stack.machine_software import THIS_MACHINE, MachineSoftware
from density_study.cluster.stack.recipes import TOOLS
from density_study.cluster.stack.store_software import CLIENTS, StoreSoftware, ensure_store


@dataclass(frozen=True)
class Stacks:
    """Java, as the nodes' machines have it, and the two trees that every node of a cluster uses.
    `client_java`: of HBase's clients.
    `store`: of a cluster with another store than HBase. `on_hadoop`: whether its nodes use the two trees."""

    java: Java
    client_java: Java
    hadoop: Stack
    hbase: Stack
    store: StoreSoftware | None = None
    on_hadoop: bool = True

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
            hbase_classpath=tuple(map(place, classpath(self.hbase))),
            store=program and PurePath(place(program)),
            store_classpath=tuple(map(place, servers)),
        )

    @property
    def daemon_java(self) -> Java:
        return (self.store.java if self.store else None) or self.java

    def disclose(self) -> dict[str, Any]:
        """Versions, and one hash over all jars of each tree."""
        return {
            "java": self.daemon_java.version,
            "client_java": self.client_java.version,
            **{
                stack.name: {"version": stack.version, "jars_sha256": stack.jars_sha256}
                for stack in ((self.hadoop, self.hbase) if self.on_hadoop else ())
            },
        }


def ensure_stacks(
    versions: Versions = VERSIONS, store: Store = HBASE, machine: MachineSoftware = THIS_MACHINE
) -> Stacks:
    """The stacks, made if not in the cache; Java and what another store needs, as `machine` has them, where
    the nodes are. By default that is here: then class-data archives are made, too (YCSB's among them).

    InputError if one is missing or cannot be made.
    """
    java, client_java = machine.java(versions.java), machine.java()
    hadoop, hbase, ycsb = ensure_all(("hadoop", "hbase", "ycsb"), versions)
    if machine is THIS_MACHINE:
        ensure_archives((hadoop, hbase), java, versions.java)
        ensure_archives((ycsb,), client_java)
    software = None if store.is_hbase else ensure_store(store, machine)
    return Stacks(java, client_java, hadoop, hbase, software, store.on_hadoop)


def stacks_of_nodes(store: Store) -> tuple[str, ...]:
    """The stacks that every node of a cluster needs. Redis is a program of the machines, RocksDB a library of
    its clients."""
    hadoop = ("hadoop", "hbase") if store.on_hadoop else ()
    return (*hadoop, *((store.name,) if store.name in TOOLS else ()))


def stacks_of_clients(store: Store) -> tuple[str, ...]:
    """The further stacks that clients need."""
    return ("ycsb",) if store.is_hbase else ("ycsb", CLIENTS)


def moved(path: PurePath | str, homes: Mapping[PurePath, PurePath]) -> str:
    """`path` if its stack's home is moved: `homes` maps the controller's to the nodes'. Other paths stay."""
    for here, there in homes.items():
        if PurePath(path).is_relative_to(here):
            return str(there / PurePath(path).relative_to(here))
    return str(path)
