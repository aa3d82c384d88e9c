"""`Store`: what YCSB's rows are kept in, and when a write counts as acknowledged.

A store is a class in a folder of `density_study.cluster.stores`, or in another package that names it by an
entry point. Plans and records keep only its name and its durability.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

from pydantic_core import CoreSchema, core_schema

from density_study.cluster.model.configuration import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Role
from density_study.cluster.plugins import classes_of, group_of, unusable

Durability = Literal["memory", "page_cache", "synced"]
LEVELS: tuple[Durability, ...] = get_args(Durability)
DEFAULT = "hbase"
"""The store of a study that names none."""
_OURS = "density_study.cluster.stores"
"""Each folder of it has a module `store` with STORES, the classes. It is imported by name, because they stand
above this package: they render files and command lines."""


@dataclass(frozen=True)
class StoreStack:
    """The jars of a store's servers: the stack's name and version, and the folder with pom.xml and lock."""

    name: str
    version: str
    folder: Path


@dataclass(frozen=True)
class MachineProgram:
    """A server that no registry of jars has: the machines bring it. `names`: of programs, of which the first
    that is installed is taken. `package`: Debian's. `says`: pattern of what it prints for --version, with
    groups for its name and its version. `since`: the first major version that will do."""

    names: tuple[str, ...]
    package: str
    says: str
    since: int = 0


@dataclass(frozen=True)
class Store:
    """A store at one level of durability, with what placement, plans and reports need to know of it.

    `cluster.stores.store.ClusterStore` adds what builds and clients need. The class variables are the same at
    every level.
    """

    durability: Durability = "page_cache"

    name: ClassVar[str]
    """Its name in studies, in names of topologies and in records."""
    title: ClassVar[str]
    """Its name for people."""
    acknowledged: ClassVar[Mapping[Durability, str]]
    """How each level of durability is rendered. Without an entry there is no such level, and `without` says
    why."""
    without: ClassVar[str] = ""
    hadoop: ClassVar[bool] = False
    """Whether it keeps its data in HDFS. Then the cluster has HDFS, YARN and ZooKeeper, otherwise only
    the store's own daemons."""
    offers: ClassVar[frozenset[str]] = frozenset()
    """Keys of a study that most stores do not offer: stack, configuration, tier, regionservers_per_node,
    client, genomics, noisy_neighbour, fault, variant_load."""
    restores: ClassVar[bool] = False
    """Whether trials restore a loaded table from a snapshot; otherwise rows are loaded before each trial."""
    sites: ClassVar[tuple[Site, ...]] = ()
    """Hadoop's and HBase's files of configuration that its daemons and clients read."""
    master_services: ClassVar[tuple[str, ...]] = ()
    services: ClassVar[tuple[str, ...]] = ()
    """Ports of the master, and of each worker."""
    master_heaps_mib: ClassVar[Mapping[str, int]] = MappingProxyType({})
    """Heaps of daemons on the master, beside those that a cluster with HBase has there."""
    stacks: ClassVar[tuple[str, ...]] = ()
    """Stacks that every node needs."""
    own_software: ClassVar[bool] = True
    """Whether it has a program or jars beside Hadoop's and HBase's, which every cluster on Hadoop has."""
    client_stacks: ClassVar[tuple[str, ...]] = ("ycsb", "ycsb-stores")
    """Stacks that clients need. The last has the binding."""
    stack: ClassVar[StoreStack | None] = None
    """The stack that the store brings itself, if any."""
    program: ClassVar[MachineProgram | None] = None
    """The program that its nodes' machines must have, if any."""
    workers: ClassVar[int | None] = None
    """The most workers that it can use; None: any number."""
    drives: ClassVar[int | None] = None
    """The most drives of a worker that it can use; None: any number."""
    embedded: ClassVar[bool] = False
    """Whether it runs in the client's process, so that there is one client."""
    write_once: ClassVar[bool] = False
    """Whether only the load writes rows, once for each build: trials read and scan them, from cold disks."""
    ordered: ClassVar[bool] = True
    """Whether it can scan in the order of keys."""
    compiled: ClassVar[bool] = False
    """Whether its servers have JIT compilers, and so are warmed up."""
    java: ClassVar[int | None] = None
    """The feature release that its servers need; None: any, or none."""
    existing: ClassVar[bool] = False
    """Whether existing servers can be measured."""
    built: ClassVar[bool] = True
    """Whether a study can build it."""
    caution: ClassVar[str] = ""
    """What stands beside its numbers in plans and reports."""

    @property
    def level(self) -> str:
        """Its name as a level of a factor, and so in names of topologies: redis-page-cache, hbase-synced. The
        durability is part of it and appears beside every number."""
        return f"{self.name}-{self.durability.replace('_', '-')}"

    @property
    def words(self) -> str:
        return f"{self.title}, {self.durability.replace('_', ' ')}"

    def ports(self, roles: Collection[Role], servers: Sequence[str]) -> tuple[str, ...]:
        """The services of a node with these roles, in the order in which ports are allocated. `servers`: its
        RegionServers."""
        names = self.master_services if "master" in roles else ()
        return (*names, *(self.services if "worker" in roles else ()))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _parsed,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda store: {"name": store.name, "durability": store.durability}
            ),
        )


@cache
def stores() -> Mapping[str, type[Store]]:
    """Every store by name: the default one first, then ours, then those of other packages. InputError if an
    entry point cannot be loaded or repeats a name."""
    found: dict[str, type[Store]] = {}
    for module in pkgutil.iter_modules(import_module(_OURS).__path__):
        if module.ispkg:
            found |= {one.name: one for one in _module(module.name).STORES}
    for point, store in classes_of("store", Store):
        if store.name in found:
            raise unusable("store", f"{store.name!r} is registered twice", point)
        found[store.name] = store
    return MappingProxyType({DEFAULT: found[DEFAULT], **found})


def store_named(name: str, durability: Durability = "page_cache") -> Store:
    """The store of that name. InputError if there is none."""
    if name not in stores():
        raise InputError(
            f"no store {name!r} is registered.",
            f"entry points {group_of('store')}",
            f"install the package that provides it; registered are {', '.join(stores())}.",
        )
    return stores()[name](durability)


@cache
def default_store() -> Store:
    """The store of a study that names none. Others are not imported for it."""
    (store,) = _module(DEFAULT).STORES
    made: Store = store()
    return made


def cautions(stores: Iterable[Store]) -> list[str]:
    """What stands beside the numbers of the stores, once each."""
    return list(dict.fromkeys(store.caution for store in stores if store.caution))


def store_at(level: str) -> Store | None:
    """The store whose level this is, such as redis-page-cache; None for any other text."""
    known = (kind(durability) for kind in stores().values() for durability in LEVELS)
    return next((store for store in known if store.level == level), None)


def words_of(level: str) -> str:
    """'Redis, page cache' for the level redis-page-cache; other texts as they are."""
    store = store_at(level)
    return store.words if store else level


def _module(folder: str) -> Any:
    return import_module(f"{_OURS}.{folder}.store")


def _parsed(value: Any) -> Store:
    """A store from its JSON form. ValueError if it is none."""
    if isinstance(value, Store):
        return value
    if not isinstance(value, dict) or set(value) - {"name", "durability"}:
        raise ValueError("a store has a name and a durability")
    durability = value.get("durability", LEVELS[1])
    if durability not in LEVELS:
        raise ValueError(f"{durability!r} is not a level of durability: {', '.join(LEVELS)}")
    try:
        return store_named(str(value.get("name", DEFAULT)), durability)
    except InputError as error:
        raise ValueError(str(error)) from error
