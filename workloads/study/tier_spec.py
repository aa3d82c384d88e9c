"""`factors.tier`: where a RegionServer, or HDFS, caches its blocks. Each level is a configuration of its own,
whose use every trial proves by the servers' counters. Faults are ValueErrors."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from density_study.cluster.model.configuration import BlockCache, Configuration
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import SizeMib
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.configuration_spec import SMALLEST_CACHE_MIB

PMEM, EMULATED = "pmem", "emulated"
_KINDS = ("offheap", "file", "mmap", "pmem", "hdfs_pmem")


class TierSpec(Frozen):
    """A level of the factor `tier`. The level `heap` is written as this word alone."""

    offheap: SizeMib | None = Field(
        None, description="Memory beside the heap, which is taken from the heap's share: its size."
    )
    file: Literal["flash", "hdd"] | None = Field(
        None, description="A file on a disk of that medium, read through the page cache."
    )
    mmap: Literal["flash", "hdd"] | None = Field(None, description="The same, mapped into memory.")
    pmem: Literal["emulated"] | None = Field(
        None,
        description="A file in persistent memory. `emulated`: in the host's memory (tmpfs), which is "
        "taken from the heap's share; it is labelled, and supports no claim.",
    )
    hdfs_pmem: Literal["emulated"] | None = Field(
        None,
        description="HDFS's cache in persistent memory, for the reads of TestDFSIO, which alone runs in this "
        "arm. `emulated`: as with `pmem`.",
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
        medium = self.file or self.mmap
        assert medium is not None
        return BlockCache(medium, self.mib, mapped=self.mmap is not None)


TierLevel = Annotated[
    Annotated[Literal["heap"], Tag("(word)")] | Annotated[TierSpec, Tag("(cache)")],
    Discriminator(lambda value: "(word)" if isinstance(value, str) else "(cache)"),
]
"""By the tags, an error is about the kind of level that was meant; in parentheses, they are not shown."""


def is_emulated(tier: str) -> bool:
    """Whether the level of this name only stands in for persistent memory."""
    return f"{PMEM}-{EMULATED}" in tier


def name_of(level: Literal["heap"] | TierSpec) -> str:
    return level.name if isinstance(level, TierSpec) else level


def _example(kind: str) -> str:
    return {
        "offheap": "offheap: 512 MiB",
        "pmem": "pmem: emulated, size: 512 MiB",
        "hdfs_pmem": "hdfs_pmem: emulated, size: 512 MiB",
    }.get(kind, f"{kind}: flash, size: 1 GiB")
