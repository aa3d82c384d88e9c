"""HDFS' storage policies, erasure codings and codecs, by the names that HDFS and studies use."""

from __future__ import annotations

from typing import Literal

StoragePolicy = Literal[
    "HOT", "WARM", "COLD", "ALL_SSD", "ONE_SSD", "LAZY_PERSIST", "ALL_NVDIMM", "PROVIDED"
]
"""HDFS 3.4, as listed by `hdfs storagepolicies -listPolicies`."""
ErasureCoding = Literal[
    "RS-6-3-1024k", "RS-3-2-1024k", "RS-LEGACY-6-3-1024k", "XOR-2-1-1024k", "RS-10-4-1024k"
]
"""HDFS' built-in policies: codec, data units, parity units, cell size."""
Compression = Literal["gzip", "deflate", "bzip2", "snappy"]


def units_of(policy: str) -> tuple[int, int]:
    """Data and parity units of an erasure coding policy: RS-6-3-1024k to (6, 3)."""
    *_, data, parity, _ = policy.split("-")
    return int(data), int(parity)
