"""`factors.tier`: where a RegionServer, or HDFS, caches its blocks. Each level is a configuration of its own,
whose use every trial proves by the servers' counters. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.cluster.model.variant import Variant
from density_study.cluster.render.settable import SHORT_CIRCUIT
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.configuration import (
    CONFIGURATION,
    SMALLEST_CACHE_MIB,
    ConfigurationSpec,
)
from density_study.workloads.study.factors.factor import Factor, StudyOfFactors
from density_study.workloads.testdfsio.modes import READS
from density_study.workloads.testdfsio.test_case import DfsioTestCase

PMEM, EMULATED = "pmem", "emulated"
_KINDS = ("offheap", "file", "mmap", "pmem", "hdfs_pmem")


class TierSpec(Frozen):
    """A level of the factor `tier`. The level `heap` is written as this word."""

    offheap: SizeMib | None = Field(
        None, description="Memory beside the heap, which is taken from the heap's share: its size."
    )
    file: Literal["flash", "hdd"] | None = Field(
        None, description="A file on a disk of that type, read through the page cache."
    )
    mmap: Literal["flash", "hdd"] | None = Field(None, description="The same, mapped into memory.")
    pmem: Literal["emulated"] | None = Field(
        None,
        description="A file in persistent memory. `emulated`: in the host's memory (tmpfs), which is "
        "taken from the heap's share; it is labelled, and supports no claim.",
    )
    hdfs_pmem: Literal["emulated"] | None = Field(
        None,
        description="HDFS's cache in persistent memory, for the reads of TestDFSIO, the only workload in "
        "this variant. `emulated`: as with `pmem`.",
    )
    size: SizeMib | None = Field(
        None, description="Size of the cache of each RegionServer, or DataNode."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> TierSpec:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            named = f"not {' and '.join(given)}" if given else "there is none"
            raise ValueError(f"a tier has one of offheap, file, mmap, pmem and hdfs_pmem; {named}")
        (kind,) = given
        if (self.offheap is None) == (self.size is None):
            message = "write the size after offheap" if self.offheap else f"{kind} needs a size"
            raise FaultyKeyError(f"{message}, for example {{{_example(kind)}}}", kind)
        if self.mib < SMALLEST_CACHE_MIB and not self.hdfs_pmem:
            raise FaultyKeyError(
                f"{self.mib} MiB is too small for HBase: a block cache needs {SMALLEST_CACHE_MIB} MiB",
                "size" if self.size else "offheap",
            )
        return self

    @property
    def mib(self) -> int:
        return int(self.offheap or self.size or 0)

    @property
    def name(self) -> str:
        """offheap-512m, file-flash-1024m, mmap-hdd-1024m, pmem-emulated-256m, hdfs-pmem-emulated-256m."""
        place = self.file or self.mmap or self.pmem or self.hdfs_pmem
        kind = next(kind for kind in _KINDS if getattr(self, kind) is not None)
        return "-".join(filter(None, (kind.replace("_", "-"), place, f"{self.mib}m")))

    def over(self, configuration: Configuration) -> Configuration:
        """The configuration, with this tier."""
        if self.hdfs_pmem:
            return replace(configuration, hdfs_cache_mib=self.mib)
        return replace(configuration, block_cache=self.block_cache())

    def block_cache(self) -> BlockCache | None:
        """None: it is HDFS that caches."""
        if self.hdfs_pmem:
            return None
        if self.offheap:
            return BlockCache("off-heap", self.mib)
        if self.pmem:
            return BlockCache("pmem", self.mib)
        disk_type = self.file or self.mmap
        assert disk_type is not None
        return BlockCache(disk_type, self.mib, mapped=self.mmap is not None)


TierLevel = Annotated[
    Annotated[Literal["heap"], Tag("(word)")] | Annotated[TierSpec, Tag("(cache)")],
    Discriminator(lambda value: "(word)" if isinstance(value, str) else "(cache)"),
]
"""By the tags, an error is about the kind of level that was meant; in parentheses, they are not shown."""


def is_emulated(tier: str) -> bool:
    """Whether the level of this name only stands in for persistent memory."""
    return f"{PMEM}-{EMULATED}" in tier


def _example(kind: str) -> str:
    return {
        "offheap": "offheap: 512 MiB",
        "pmem": "pmem: emulated, size: 512 MiB",
        "hdfs_pmem": "hdfs_pmem: emulated, size: 512 MiB",
    }.get(kind, f"{kind}: flash, size: 1 GiB")


class Tiers(Factor[TierSpec | None]):
    """Caches of blocks; None: the heap."""

    name = "tier"
    key = (
        tuple[TierLevel, ...] | None,
        Field(
            None,
            min_length=1,
            description="Where RegionServers, or HDFS, cache blocks, for example `[heap, {offheap: 512 MiB}, "
            "{file: flash, size: 1 GiB}]`. The first one is the baseline. Trials that do not use their tier "
            "are invalid.",
        ),
    )
    proofs = ("foreign_tiers", "tier_hits")

    def pairs(
        self, given: tuple[Literal["heap"] | TierSpec, ...]
    ) -> Iterator[tuple[str, TierSpec | None]]:
        for level in given:
            yield (level.name, level) if isinstance(level, TierSpec) else (level, None)

    def apply(self, variant: Variant, level: TierSpec | None) -> Variant:
        return (
            replace(variant, configuration=level.over(variant.configuration)) if level else variant
        )

    def check(self, study: StudyOfFactors) -> None:
        """A configuration has no cache of its own, and somebody reads what HDFS caches."""
        if study.factors.tier is None:
            return
        configurations = study.factors.of(CONFIGURATION)
        for name, spec in configurations.items():
            if spec.block_cache:
                raise FaultyKeyError(
                    f"configuration {name} has a block cache, which factors.tier also sets; write it in one "
                    "of them",
                    *("factors", "configuration", name, "block_cache"),
                )
        for index, tier in enumerate(study.factors.tier):
            if isinstance(tier, TierSpec) and tier.hdfs_pmem:
                _check_hdfs_cache(study, index, configurations)

    def obstacle(self, level: str) -> str | None:
        if is_emulated(level):
            return "persistent memory is emulated (tmpfs), which supports no claim"
        return None


TIER = Tiers()


def _check_hdfs_cache(
    study: StudyOfFactors, index: int, configurations: Mapping[str, ConfigurationSpec]
) -> None:
    if not any(isinstance(s, DfsioTestCase) and s.mode in READS for s in study.test_cases()):
        raise FaultyKeyError(
            "only reads of TestDFSIO use it, and the study has none; add testdfsio with the mode read",
            *("factors", "tier", index, "hdfs_pmem"),
        )
    for name, spec in configurations.items():
        sites = {"core-site": spec.core_site, "hdfs-site": spec.hdfs_site}
        for site, given in sites.items():
            if given.get(SHORT_CIRCUIT) == "true":
                raise FaultyKeyError(
                    "short-circuit reads open the files on the disk, and pass the cache of the tier "
                    "hdfs_pmem; remove one of them",
                    *("factors", "configuration", name, site, SHORT_CIRCUIT),
                )
