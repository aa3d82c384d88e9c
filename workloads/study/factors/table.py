"""The key `table` of a configuration and of an existing cluster: attributes of the column family."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from density_study.cluster.model.configuration import TableAttributes
from density_study.workloads.base.checked import at_most
from density_study.workloads.base.quantity import SizeBytes
from density_study.workloads.base.values import Frozen

LARGEST_BLOCK_BYTES = 16 * 2**20


class TableSpec(Frozen):
    """Attributes of YCSB's and the variant store's table. Missing attributes are as in HBase."""

    compression: Literal["none", "gz", "snappy", "lz4", "zstd"] = Field(
        "none",
        description="Compression of store files. `lz4` and `zstd` need jars that HBase's stack has not: "
        "`stack.jars`.",
    )
    encoding: Literal["none", "prefix", "diff", "fast_diff", "row_index_v1"] = Field(
        "none", description="Encoding of keys within a block, on disk and in the cache."
    )
    bloom: Literal["none", "row", "rowcol"] = Field("row", description="Bloom filter.")
    block_size: Annotated[
        SizeBytes, at_most(LARGEST_BLOCK_BYTES, "HBase caches no larger blocks")
    ] = Field(65536, description="Size of a data block before compression: 64 KiB.")
    prefetch: bool = Field(
        False, description="Read all data blocks into the block cache when a region opens."
    )

    @property
    def attributes(self) -> TableAttributes:
        return TableAttributes(
            compression=self.compression.upper(),  # type: ignore[arg-type]
            encoding=self.encoding.upper(),  # type: ignore[arg-type]
            bloom=self.bloom.upper(),  # type: ignore[arg-type]
            block_bytes=self.block_size,
            prefetch=self.prefetch,
        )
