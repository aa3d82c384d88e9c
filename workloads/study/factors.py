"""The key `factors` of a study: what differs between its clusters. Pure; faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from density_study.cluster.model.configuration import PLAIN, BlockCache, Configuration
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.topology import Jit
from density_study.cluster.model.versions import HADOOP, HBASE, Versions, vendor_fault
from density_study.cluster.stack.java import OLDEST
from density_study.workloads.base.checked import FaultyKeyError, like, no_duplicates
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.configuration_spec import ConfigurationSpec
from density_study.workloads.study.existing_spec import ClusterSpec
from density_study.workloads.study.network_spec import NetworkLevel, NetworkSpec
from density_study.workloads.study.store_spec import StoreChoice, StoreSpec
from density_study.workloads.study.tier_spec import TierLevel, TierSpec

NAMED = ("store", "stack", "configuration", "tier", "network")
"""Factors whose levels have names, in the order in which a topology's name has them."""
OF_CLUSTERS = ("vms_per_host", "regionservers_per_node", "medium")
"""Facts about a cluster, where the factor is `cluster`: they differ along with it."""
FACTORS = (*OF_CLUSTERS, *NAMED, "cluster")
FactorName = Literal[
    "vms_per_host",
    "medium",
    "regionservers_per_node",
    "store",
    "stack",
    "configuration",
    "tier",
    "network",
    "cluster",
]
_FOR_HADOOP_3 = "-hadoop3"
LevelName = Annotated[
    str,
    like(
        r"[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?",
        "a name: up to 24 lower-case letters, digits and hyphens, with no hyphen at the ends",
    ),
]


def _for_hadoop_3(version: str) -> str:
    """HBase 2 is released twice, for Hadoop 2 and for Hadoop 3."""
    bare = version.startswith("2.") and "-" not in version
    return f"{version}{_FOR_HADOOP_3}" if bare else version


def _apache(version: object) -> object:
    if isinstance(version, str) and (fault := vendor_fault(version)):
        raise ValueError(fault)
    return version


Version = Annotated[
    str,
    BeforeValidator(_apache),
    like(r"\d+\.\d+\.\d+(-[a-z0-9]+)*", "a version on Maven Central, for example 3.4.2"),
]
HBaseVersion = Annotated[Version, AfterValidator(_for_hadoop_3)]
JavaFeature = Annotated[int, Field(strict=True, ge=OLDEST, le=99)]


class StackLevel(Frozen):
    """A level of the factor `stack`. A version that is left out is that of the study's `stack`."""

    hadoop: Version | None = Field(None, description="Hadoop version, for example `3.4.1`.")
    hbase: HBaseVersion | None = Field(None, description="HBase version, for example `2.6.4`.")
    java: JavaFeature | None = Field(
        None,
        description="Feature release of the JDK of daemons, containers and TestDFSIO.",
    )

    @model_validator(mode="after")
    def _one_key(self) -> StackLevel:
        if not self.name:
            raise ValueError("name at least one of hadoop, hbase and java")
        return self

    @property
    def name(self) -> str:
        """hadoop-3.4.1, hadoop-3.4.1-hbase-2.6.4, java-21."""
        given = self.model_dump(exclude_none=True)
        return "-".join(f"{k}-{v}".removesuffix(_FOR_HADOOP_3) for k, v in given.items())

    def over(self, versions: Versions) -> Versions:
        return Versions(
            self.hadoop or versions.hadoop, self.hbase or versions.hbase, self.java or versions.java
        )


class Factors(Frozen):
    """Factors to compare. Each repetition builds every combination once."""

    vms_per_host: tuple[Annotated[int, Field(strict=True, ge=0, le=64)], ...] = Field(
        min_length=1,
        description="Densities: nodes per host. `local`: from 1. `physical`: `[0]`, the bare host. "
        "`libvirt` and `container`: from 0.",
    )
    regionservers_per_node: tuple[Annotated[int, Field(strict=True, ge=1, le=64)], ...] = Field(
        (1,),
        min_length=1,
        description="Control group for density: several RegionServers on one node. With `libvirt` and "
        "`container`, on the bare host.",
    )
    medium: tuple[Literal["flash", "hdd"], ...] | None = Field(
        None, min_length=1, description="Media to compare. Default: all media of the hosts."
    )
    store: tuple[StoreChoice, ...] | None = Field(
        None,
        min_length=1,
        description="Stores to compare under the same mixes, by name or with a durability. The first one is "
        "the baseline.",
    )
    stack: tuple[StackLevel, ...] | None = Field(
        None,
        min_length=1,
        description="Versions to compare, for example `[{hadoop: 3.4.1}, {hadoop: 3.4.2}]`. The first one is "
        "the baseline. `study stack list` names the known versions; `study stack add` adds others.",
    )
    configuration: dict[LevelName, ConfigurationSpec] | None = Field(
        None,
        min_length=1,
        description="Configurations to compare, by name. The first one is the baseline; `{}` changes "
        "nothing.",
    )
    cluster: dict[LevelName, ClusterSpec] | None = Field(
        None,
        min_length=2,
        description="Given clusters to compare, by name, with provider `existing`, which has no other "
        "factor. The first one is the baseline.",
    )
    tier: tuple[TierLevel, ...] | None = Field(
        None,
        min_length=1,
        description="Where RegionServers, or HDFS, cache blocks, for example `[heap, {offheap: 512 MiB}, "
        "{file: flash, size: 1 GiB}]`. The first one is the baseline. Trials that do not use their tier are "
        "invalid.",
    )
    network: tuple[NetworkLevel, ...] | None = Field(
        None,
        min_length=1,
        description="Networks to compare, for example `[default, {rate: 100 Mbit/s}, {mtu: 9000}, "
        "{steer: [1]}]`, with provider `container`, `physical` or `libvirt`. The first one is the baseline. "
        "What they set is measured before the first trial; where it does not hold, trials are invalid.",
    )

    @model_validator(mode="after")
    def _distinct(self) -> Factors:
        for name in ("vms_per_host", "regionservers_per_node", "medium"):
            no_duplicates(name, getattr(self, name) or (), name)
        no_duplicates("store", self.levels("store"), "store")
        no_duplicates("stack", self.levels("stack"), "stack")
        _check_differ("stack", self.versions(Versions()))
        _check_differ("configuration", self.configurations())
        no_duplicates("tier", self.levels("tier"), "tier")
        no_duplicates("network", self.levels("network"), "network")
        for name, spec in (self.configuration or {}).items():
            if self.tier and spec.block_cache:
                raise FaultyKeyError(
                    f"configuration {name} has a block cache, which factors.tier sets, too; write it in one "
                    "of them",
                    *("configuration", name, "block_cache"),
                )
        return self

    def levels(self, factor: str) -> tuple[str, ...]:
        """The names of the factor's levels, in the study's order; empty where the study leaves it out."""
        value = getattr(self, factor) or ()
        return tuple(_level_name(one) for one in value)

    def versions(self, common: Versions) -> Mapping[str, Versions]:
        """Level -> versions; `common` fills in what a level leaves out."""
        return {level.name: level.over(common) for level in self.stack or ()}

    def stores(self) -> Mapping[str, Store]:
        return {level.store.level: level.store for level in self.store or ()}

    def configurations(self) -> Mapping[str, Configuration]:
        return {name: spec.configuration() for name, spec in (self.configuration or {}).items()}

    def block_caches(self) -> Mapping[str, BlockCache | None]:
        """Tier -> the block cache that it is; None: the heap."""
        return {name: tier.block_cache() if tier else None for name, tier in self.tiers().items()}

    def tiers(self) -> Mapping[str, TierSpec | None]:
        """None: the heap."""
        return {
            _level_name(one): one if isinstance(one, TierSpec) else None for one in self.tier or ()
        }

    def networks(self) -> Mapping[str, Network]:
        return {
            _level_name(one): one.network if isinstance(one, NetworkSpec) else UNCHANGED
            for one in self.network or ()
        }

    @property
    def arms_per_medium(self) -> int:
        return prod(max(1, len(self.levels(name))) for name in FACTORS if name != "medium")


def _level_name(level: object) -> str:
    if isinstance(level, StoreSpec):
        return level.store.level
    if isinstance(level, StackLevel | TierSpec | NetworkSpec):
        return level.name
    return str(level)


class StackSpec(Frozen):
    """Versions and settings that all topologies share."""

    hadoop: Version = Field(HADOOP, description="Hadoop version.")
    hbase: HBaseVersion = Field(HBASE, description="HBase version.")
    java: JavaFeature | None = Field(
        None,
        description="Feature release of the JDK of daemons, containers and TestDFSIO. Default: `JAVA_HOME`, "
        "or the `java` on PATH.",
    )
    heap: Literal["auto"] = Field(
        "auto", description="JVM heap sizes. `auto` derives them from the memory of the node."
    )
    jit: Jit = Field(
        "full",
        description="JIT compilers of all JVMs, also of clients. `c1`: the quick one alone, so that servers "
        "are warm within seconds, but slower than in production: for a first look.",
    )
    replication: Annotated[int, Field(strict=True, ge=1, le=10)] = Field(
        1, description="`dfs.replication`, at most the number of workers of the smallest cluster."
    )
    base_port: Annotated[int, Field(strict=True, ge=1024, le=32000)] = Field(
        21000, description="First of the consecutive ports that the cluster uses on each address."
    )

    @property
    def versions(self) -> Versions:
        return Versions(self.hadoop, self.hbase, self.java)


def named_levels(
    factors: Factors, common: Versions, store: Store
) -> tuple[tuple[Mapping[str, str], Store, Versions, Configuration, Network], ...]:
    """(level names by factor, store, versions, configuration, network) of each combination; one of them
    without names where a study has none of these factors."""
    return tuple(
        (
            {**named, **stack, **configuration, **tier, **network},
            kept,
            versions,
            cache.over(configured) if cache else configured,
            setting,
        )
        for named, kept in _each("store", factors.stores() or _own_store(store), store)
        for stack, versions in _each("stack", factors.versions(common), common)
        for configuration, configured in _each("configuration", factors.configurations(), PLAIN)
        for tier, cache in _each("tier", factors.tiers(), None)
        for network, setting in _each("network", factors.networks(), UNCHANGED)
    )


def _own_store(store: Store) -> Mapping[str, Store]:
    """The one of the study: its durability is in the topologies' names, too."""
    return {} if store == default_store() else {store.level: store}


Level = TypeVar("Level")


def _each(
    factor: str, levels: Mapping[str, Level], otherwise: Level
) -> list[tuple[Mapping[str, str], Level]]:
    return [({factor: name}, value) for name, value in levels.items()] or [({}, otherwise)]


def _check_differ(factor: str, levels: Mapping[str, object]) -> None:
    names = list(levels)
    for place, (name, value) in enumerate(levels.items()):
        for earlier in names[:place]:
            if levels[earlier] == value:
                raise FaultyKeyError(
                    f"{name} is the same as {earlier}: there is nothing to compare", factor
                )
