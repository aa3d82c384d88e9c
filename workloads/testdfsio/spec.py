"""`DfsioSpec`: the key `testdfsio` of a study file, and the test cases it expands to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from density_study.cluster.model.dividing.sizing import SMALLEST
from density_study.workloads.base.checked import FaultyKeyError, at_most
from density_study.workloads.base.quantity import SizeBytes, SizeMib
from density_study.workloads.base.test_case import WorkloadSpec
from density_study.workloads.testdfsio.hdfs_policies import (
    Compression,
    ErasureCoding,
    StoragePolicy,
    units_of,
)
from density_study.workloads.testdfsio.modes import OWN_DATA, POSITIONED, READS, DfsioMode
from density_study.workloads.testdfsio.test_case import (
    DEFAULT_READ_BYTES,
    DfsioTestCase,
    size_words,
)

Count = Annotated[int, Field(strict=True, ge=1)]
MAX_FILES = 100_000
# Defaults of dfs.namenode.fs-limits.max-blocks-per-file and dfs.blocksize in Hadoop 3.4.
MAX_BLOCKS, BLOCK_MIB = 10_000, 128
# A map holds its buffer in its heap, next to what HDFS' client needs.
MAX_BUFFER_BYTES = SMALLEST.container_heap_mib * 2**20 // 2
# Policies that HDFS applies to erasure-coded files (ErasureCodingPolicyManager); it ignores the others.
STRIPED_POLICIES = ("HOT", "COLD", "ALL_SSD", "ALL_NVDIMM", "PROVIDED")


class DfsioSpec(WorkloadSpec):
    """TestDFSIO jobs: one trial per mode, and for a read mode one per value of `readers`. Rejects options
    that exclude each other. A plan rejects what its cluster cannot do."""

    repeatable: ClassVar[bool] = True

    modes: tuple[DfsioMode, ...] = Field(
        min_length=1, description="modes to run, one trial each: write, read, append, random, ..."
    )
    files: Annotated[Count, at_most(MAX_FILES, "each file is a map task of one job")] = Field(
        description="number of files, and the maximum number of parallel maps"
    )
    file_size: SizeMib = Field(description="size of each file: 64 MiB")
    read_size: SizeBytes = Field(DEFAULT_READ_BYTES, description="bytes per read: 1 MiB")
    buffer_size: SizeBytes | None = Field(
        None, description="bytes per write; default: the read size"
    )
    skip_size: SizeBytes | None = Field(
        None, description="mode skip: bytes skipped after each read; default: the read size"
    )
    readers: tuple[Count, ...] = Field(
        (), description="limits on parallel maps of read modes, one trial each; default: no limit"
    )
    storage_policy: StoragePolicy | None = Field(
        None, description="storage policy of the files; default: HDFS' own"
    )
    erasure_coding: ErasureCoding | None = Field(
        None, description="erasure coding policy of the files; default: replication"
    )
    compression: Compression | None = Field(
        None, description="codec of the files; default: uncompressed"
    )

    def test_cases(self) -> tuple[DfsioTestCase, ...]:
        return tuple(
            test_case for mode in dict.fromkeys(self.modes) for test_case in self._test_cases(mode)
        )

    def _test_cases(self, mode: DfsioMode) -> Iterator[DfsioTestCase]:
        read = mode in READS
        stored = self.model_dump(include={"storage_policy", "erasure_coding", "compression"})
        for readers in dict.fromkeys(self.readers) if read and self.readers else (None,):
            yield DfsioTestCase(
                mode=mode,
                files=self.files,
                file_size_mib=self.file_size,
                read_size_bytes=self.read_size if read else self.buffer_size or self.read_size,
                skip_size_bytes=self.skip_size if mode == "skip" else None,
                readers=readers,
                **stored,
            )

    @model_validator(mode="after")
    def _works_together(self) -> Self:
        for fault in (*self._size_faults(), *self._reader_faults(), *self._stored_faults()):
            raise fault
        return self

    def _size_faults(self) -> Iterator[FaultyKeyError]:
        for key, size in (("read_size", self.read_size), ("buffer_size", self.buffer_size)):
            if size is not None and size > MAX_BUFFER_BYTES:
                yield FaultyKeyError(
                    f"{key} {size_words(size)} does not fit into a map's heap; the maximum is "
                    f"{size_words(MAX_BUFFER_BYTES)}",
                    key,
                )
        if self.read_size > self.file_size * 2**20:
            yield FaultyKeyError(
                f"read_size {size_words(self.read_size)} exceeds file_size "
                f"{self.file_size} MiB: every read would be short",
                "read_size",
            )
        if self.skip_size is not None and "skip" not in self.modes:
            yield FaultyKeyError(
                "skip_size needs the mode skip, which modes does not list", "skip_size"
            )
        if self.skip_size is not None and self.skip_size > self.file_size * 2**20:
            yield FaultyKeyError("skip_size exceeds file_size: only one read per file", "skip_size")
        data = 1 if self.erasure_coding is None else units_of(self.erasure_coding)[0]
        growth = 2 if "append" in self.modes else 1
        max_mib = MAX_BLOCKS * BLOCK_MIB * data // growth
        if self.file_size > max_mib:
            yield FaultyKeyError(
                f"file_size {self.file_size:,} MiB exceeds {max_mib:,} MiB: HDFS limits a file to "
                f"{MAX_BLOCKS:,} blocks{', and append doubles its size' if growth > 1 else ''}",
                "file_size",
            )

    def _reader_faults(self) -> Iterator[FaultyKeyError]:
        if self.readers and not set(self.modes) & set(READS):
            yield FaultyKeyError(
                f"readers needs one of the modes {', '.join(READS)}, and modes lists none of them",
                "readers",
            )
        readers = max(self.readers, default=0)
        if readers > self.files:
            yield FaultyKeyError(
                f"{readers} readers exceed the {self.files} files: one map reads each file",
                "readers",
            )

    def _stored_faults(self) -> Iterator[FaultyKeyError]:
        if self.compression is not None:
            for mode in self.modes:
                if mode in POSITIONED or mode == "truncate":
                    yield FaultyKeyError(
                        f"compression {self.compression} excludes mode {mode}: a compressed stream "
                        "cannot seek; write two entries of testdfsio",
                        "compression",
                    )
        if self.erasure_coding is None:
            return
        for mode in self.modes:
            if mode in OWN_DATA:
                yield FaultyKeyError(
                    f"erasure_coding {self.erasure_coding} excludes mode {mode}: TestDFSIO cannot "
                    f"{mode} erasure-coded files",
                    "erasure_coding",
                )
        if self.storage_policy not in (None, *STRIPED_POLICIES):
            yield FaultyKeyError(
                f"erasure_coding excludes storage_policy {self.storage_policy}: HDFS ignores it for "
                f"erasure-coded files; it applies {', '.join(STRIPED_POLICIES)}",
                "storage_policy",
            )
