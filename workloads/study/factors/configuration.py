"""`factors.configuration`: named sets of properties, JVM flags and a block cache. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from density_study.cluster.model.configuration import (
    BUILT_IN,
    DAEMON_KINDS,
    SITES,
    BlockCache,
    Collector,
    Configuration,
    DaemonKind,
    Jvm,
    Site,
)
from density_study.cluster.model.memory import LEAST_DAEMON_HEAP_MIB
from density_study.cluster.model.variant import Variant
from density_study.cluster.render.settable import (
    HEAP_SHARES,
    flag_fault,
    heap_shares_fault,
    property_fault,
)
from density_study.workloads.base.checked import MAX_TEXT, FaultyKeyError, is_recorded, like
from density_study.workloads.base.quantity import NodeShare, SizeOrShare
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Factor, LevelName, StudyOfFactors
from density_study.workloads.study.factors.stack import versions_of
from density_study.workloads.study.factors.table import TableSpec

_MAX_VALUE = MAX_TEXT
SMALLEST_CACHE_MIB = 64
"""HBase gives each of its 14 sizes of blocks four of them; the largest has 513 KiB."""


def _as_text(value: object) -> object:
    """A value as Hadoop reads it: true, 5 and 0.4 need no quotes in a study."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


PropertyName = Annotated[str, like(r"[a-zA-Z][\w.-]{1,199}", "the name of a property")]
PropertyValue = Annotated[
    str,
    BeforeValidator(_as_text),
    like(
        rf"[\x20-\x7e]{{0,{_MAX_VALUE}}}",
        f"a line of at most {_MAX_VALUE} printable characters",
        dash=True,
    ),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}),
]
Properties = dict[PropertyName, PropertyValue]


class JvmSpec(Frozen):
    """The JVM of every daemon of a kind. The project's choice holds for what is left out."""

    heap: SizeOrShare | Literal["auto"] = Field(
        "auto",
        description="Heap. The memory of the node must hold it; `auto`: a RegionServer gets what is left, "
        "others an amount by the memory of the host. RegionServers also take `25% of node`: they divide that "
        "part of each node's memory, which is the same for the host at every density.",
    )
    collector: Collector | Literal["auto"] = Field(
        "auto",
        description="Garbage collector. `auto`: G1 for RegionServers, and for others on hosts of 64 GB or "
        "more, else Serial.",
    )
    flags: tuple[str, ...] = Field(
        (), max_length=50, description="Further flags, for example `-XX:MaxGCPauseMillis=50`."
    )

    @model_validator(mode="after")
    def _settable(self, info: ValidationInfo) -> JvmSpec:
        is_small = isinstance(self.heap, int) and self.heap < LEAST_DAEMON_HEAP_MIB
        if is_small and not is_recorded(info):
            raise FaultyKeyError(
                f"{self.heap} MiB is too small for a daemon, which needs {LEAST_DAEMON_HEAP_MIB} MiB",
                "heap",
            )
        for index, flag in enumerate(self.flags):
            if fault := flag_fault(flag):
                raise FaultyKeyError(fault, "flags", index)
        return self

    def jvm(self) -> Jvm:
        heap = self.heap
        return Jvm(
            heap if isinstance(heap, int) else None,
            None if self.collector == "auto" else self.collector,
            self.flags,
            heap.percent if isinstance(heap, NodeShare) else None,
        )


class BlockCacheSpec(Frozen):
    """A cache of data blocks beside the heap of each RegionServer. Without it, the heap has them."""

    place: Literal["off-heap", "flash", "hdd"] = Field(
        description="`off-heap`: memory, which is taken from the heap's share. `flash` or `hdd`: a file on a "
        "disk of that type."
    )
    size: SizeOrShare = Field(
        description="Size of the cache of each RegionServer; `off-heap` also `60% of node`, which the "
        "RegionServers of a node divide."
    )

    @model_validator(mode="after")
    def _large_enough(self) -> BlockCacheSpec:
        if isinstance(self.size, NodeShare):
            if self.place != "off-heap":
                raise FaultyKeyError(
                    f"a file on {self.place} is not a share of a node's memory; write an amount, for example "
                    "100 GiB",
                    "size",
                )
        elif self.size < SMALLEST_CACHE_MIB:
            raise FaultyKeyError(
                f"{self.size} MiB is too small for HBase: a block cache needs {SMALLEST_CACHE_MIB} MiB",
                "size",
            )
        return self


class ConfigurationSpec(Frozen):
    """One configuration: what differs from this project's own. `{}` is that one itself."""

    core_site: Properties = Field({}, alias="core-site", description="Properties of core-site.xml.")
    hdfs_site: Properties = Field({}, alias="hdfs-site", description="Properties of hdfs-site.xml.")
    yarn_site: Properties = Field({}, alias="yarn-site", description="Properties of yarn-site.xml.")
    mapred_site: Properties = Field(
        {}, alias="mapred-site", description="Properties of mapred-site.xml."
    )
    hbase_site: Properties = Field(
        {}, alias="hbase-site", description="Properties of hbase-site.xml, for example "
        "`{hbase.regionserver.handler.count: 60}`.",
    )  # fmt: skip
    jvm: dict[DaemonKind, JvmSpec] = Field(
        {}, description=f"Heap, collector and flags, by kind of daemon: {', '.join(DAEMON_KINDS)}."
    )
    block_cache: BlockCacheSpec | None = Field(
        None, description="Block cache of each RegionServer beside its heap."
    )
    table: TableSpec = Field(TableSpec(), description="Attributes of the table of YCSB.")

    @model_validator(mode="after")
    def _settable(self) -> ConfigurationSpec:
        properties = dict(self._properties())
        for site, given in properties.items():
            for name in given:
                if fault := property_fault(name, site, properties):
                    raise FaultyKeyError(fault, site, name)
        if fault := heap_shares_fault(self.hbase_site):
            name = next(name for name in HEAP_SHARES if name in self.hbase_site)
            raise FaultyKeyError(fault, "hbase-site", name)
        for kind, spec in self.jvm.items():
            if kind != "regionserver" and isinstance(spec.heap, NodeShare):
                raise FaultyKeyError(
                    "only RegionServers divide a share of their node; write an amount, for example 1 GiB",
                    *("jvm", kind, "heap"),
                )
        return self

    def _block_cache(self) -> BlockCache | None:
        cache = self.block_cache
        if cache is None:
            return None
        if isinstance(cache.size, NodeShare):
            return BlockCache(cache.place, 0, percent=cache.size.percent)
        return BlockCache(cache.place, cache.size)

    def _properties(self) -> Iterator[tuple[Site, Mapping[str, str]]]:
        for site in SITES:
            given: dict[str, Any] = getattr(self, site.replace("-", "_"))
            if given:
                yield site, given

    def configuration(self) -> Configuration:
        return Configuration(
            dict(self._properties()),
            {kind: spec.jvm() for kind, spec in self.jvm.items()},
            self._block_cache(),
            table=self.table.attributes,
        )


class Configurations(Factor[ConfigurationSpec]):
    """Sets of properties, JVM flags and block caches."""

    name = "configuration"
    in_duets = True
    key = (
        dict[LevelName, ConfigurationSpec] | None,
        Field(
            None,
            min_length=1,
            description="Configurations to compare, by name. The first one is the baseline; `{}` changes "
            "nothing.",
        ),
    )

    def pairs(
        self, given: Mapping[str, ConfigurationSpec]
    ) -> Iterator[tuple[str, ConfigurationSpec]]:
        yield from dict(given).items()

    def apply(self, variant: Variant, level: ConfigurationSpec) -> Variant:
        return replace(variant, configuration=level.configuration())

    def check(self, study: StudyOfFactors) -> None:
        """A codec is in HBase's own jars, or may be in those that the user brought."""
        for name, level in study.factors.of(self).items():
            has_own_codecs = all(versions.jars for versions in versions_of(study))
            if level.table.attributes.compression not in BUILT_IN and not has_own_codecs:
                raise FaultyKeyError(
                    f"{level.table.compression} needs jars that HBase's stack has not; write snappy or gz, "
                    "bring them with `study stack add jars`, or measure an existing cluster that has them",
                    *("factors", "configuration", name, "table", "compression"),
                )


CONFIGURATION = Configurations()
