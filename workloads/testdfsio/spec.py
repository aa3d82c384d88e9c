"""What a study may ask of TestDFSIO: `DfsioSpec`, and the settings that come of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cluster.model.memory import CONTAINER_HEAP_MIB
from workloads.base.checked import FaultyKeyError, at_most
from workloads.base.quantity import SizeBytes, SizeMib
from workloads.testdfsio.setting import (
    DEFAULT_READ_BYTES,
    OWN_DATA,
    POSITIONED,
    READS,
    Compression,
    DfsioMode,
    DfsioSetting,
    ErasureCoding,
    StoragePolicy,
    size_words,
    units_of,
)

Count = Annotated[int, Field(strict=True, ge=1)]
MAX_FILES = 100_000
MAX_BLOCKS, BLOCK_MIB = 10_000, 128
"""Of a file, and their size: dfs.namenode.fs-limits.max-blocks-per-file and dfs.blocksize of Hadoop 3.4."""
MAX_BUFFER_BYTES = CONTAINER_HEAP_MIB * 2**20 // 2
"""A map holds its buffer in its heap, beside what HDFS' client needs."""
STRIPED_POLICIES = ("HOT", "COLD", "ALL_SSD", "ALL_NVDIMM", "PROVIDED")
"""Those HDFS heeds for erasure-coded files (ErasureCodingPolicyManager); others it passes over."""


class DfsioSpec(BaseModel):
    """TestDFSIO jobs: one trial a mode, a read mode once for each of `readers`. What cannot work
    together is refused here; what the cluster cannot do, in `fit`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    modes: tuple[DfsioMode, ...] = Field(min_length=1)
    files: Annotated[
        Count, at_most(MAX_FILES, "each file is a map task, and one job does not take so many")
    ]
    file_size: SizeMib
    read_size: SizeBytes = DEFAULT_READ_BYTES
    buffer_size: SizeBytes | None = Field(None, description="of one write; None: as read_size")
    skip_size: SizeBytes | None = None
    readers: tuple[Count, ...] = ()
    storage_policy: StoragePolicy | None = None
    erasure_coding: ErasureCoding | None = None
    compression: Compression | None = None

    def settings(self) -> tuple[DfsioSetting, ...]:
        return tuple(
            setting for mode in dict.fromkeys(self.modes) for setting in self._settings(mode)
        )

    def _settings(self, mode: DfsioMode) -> Iterator[DfsioSetting]:
        read = mode in READS
        for readers in dict.fromkeys(self.readers) if read and self.readers else (None,):
            yield DfsioSetting(
                mode=mode,
                files=self.files,
                file_size_mib=self.file_size,
                read_size_bytes=self.read_size if read else self.buffer_size or self.read_size,
                skip_size_bytes=self.skip_size if mode == "skip" else None,
                readers=readers,
                storage_policy=self.storage_policy,
                erasure_coding=self.erasure_coding,
                compression=self.compression,
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
                    f"{key} {size_words(size)} does not fit a map's heap; at most "
                    f"{size_words(MAX_BUFFER_BYTES)}",
                    key,
                )
        if self.read_size > self.file_size * 2**20:
            yield FaultyKeyError(
                f"read_size {size_words(self.read_size)} is more than file_size "
                f"{self.file_size} MiB: no read would be whole",
                "read_size",
            )
        if self.skip_size is not None and "skip" not in self.modes:
            yield FaultyKeyError(
                "skip_size is of the mode skip, which is not asked for", "skip_size"
            )
        if self.skip_size is not None and self.skip_size > self.file_size * 2**20:
            yield FaultyKeyError(
                "skip_size is more than file_size: only one read a file", "skip_size"
            )
        data = 1 if self.erasure_coding is None else units_of(self.erasure_coding)[0]
        most_mib = MAX_BLOCKS * BLOCK_MIB * data // (2 if "append" in self.modes else 1)
        if self.file_size > most_mib:
            yield FaultyKeyError(
                f"file_size {self.file_size:,} MiB is too large, at most {most_mib:,} MiB: HDFS takes "
                f"{MAX_BLOCKS:,} blocks a file"
                + ", and append doubles it"
                * ("append" in self.modes),
                "file_size",
            )

    def _reader_faults(self) -> Iterator[FaultyKeyError]:
        if self.readers and not set(self.modes) & set(READS):
            yield FaultyKeyError(
                f"readers is of the modes {', '.join(READS)}, and none of them is asked for",
                "readers",
            )
        most = max(self.readers, default=0)
        if most > self.files:
            yield FaultyKeyError(
                f"{most} readers of {self.files} files: each file is read by one map", "readers"
            )

    def _stored_faults(self) -> Iterator[FaultyKeyError]:
        if self.compression is not None:
            for mode in self.modes:
                if mode in POSITIONED or mode == "truncate":
                    yield FaultyKeyError(
                        f"compression {self.compression} and mode {mode}: a compressed stream has "
                        "no positions; ask for them in two entries of testdfsio",
                        "compression",
                    )
        if self.erasure_coding is None:
            return
        for mode in self.modes:
            if mode in OWN_DATA:
                yield FaultyKeyError(
                    f"erasure_coding {self.erasure_coding} and mode {mode}: TestDFSIO refuses to "
                    f"{mode} erasure-coded files",
                    "erasure_coding",
                )
        if self.storage_policy not in (None, *STRIPED_POLICIES):
            yield FaultyKeyError(
                f"erasure_coding and storage_policy {self.storage_policy}: HDFS passes that policy "
                f"over for erasure-coded files; it heeds {', '.join(STRIPED_POLICIES)}",
                "storage_policy",
            )
