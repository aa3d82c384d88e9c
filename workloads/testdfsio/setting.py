"""One TestDFSIO job with every knob fixed: `DfsioSetting`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DfsioMode = Literal["write", "read", "append", "random", "backward", "skip", "truncate"]
StoragePolicy = Literal[
    "HOT", "WARM", "COLD", "ALL_SSD", "ONE_SSD", "LAZY_PERSIST", "ALL_NVDIMM", "PROVIDED"
]
"""Of HDFS 3.4, as `hdfs storagepolicies -listPolicies` names them."""
ErasureCoding = Literal[
    "RS-6-3-1024k", "RS-3-2-1024k", "RS-LEGACY-6-3-1024k", "XOR-2-1-1024k", "RS-10-4-1024k"
]
"""HDFS' own policies: codec, data units, parity units, cell."""
Compression = Literal["gzip", "deflate", "bzip2", "snappy"]

READS: tuple[DfsioMode, ...] = ("read", "random", "backward", "skip")
POSITIONED: tuple[DfsioMode, ...] = ("random", "backward", "skip")
"""Reads that say where in the file they begin."""
OWN_DATA: tuple[DfsioMode, ...] = ("append", "truncate")
"""Modes that spoil their files: each has files of its own, gone after the trial."""
DEFAULT_READ_BYTES = 2**20

JOB_START_ESTIMATE_S = 20.0
STREAM_ESTIMATE_MIB_S = 150.0
ONE_STREAM_ESTIMATE_MIB_S = 60.0
COMPRESSED_ESTIMATE_MIB_S = 40.0
LABELS: dict[DfsioMode, str] = {
    "write": "write",
    "append": "append",
    "read": "sequential read",
    "random": "random read",
    "backward": "backward read",
    "skip": "skip read",
    "truncate": "truncate",
}
"""For people; also the order in which settings are shown."""


def size_words(size_bytes: int) -> str:
    """1048576 to '1 MiB': the largest binary unit that says it whole."""
    for unit, words in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit} {words}"
    return f"{size_bytes} B"


class DfsioSetting(BaseModel):
    """One TestDFSIO job. Sizes are of one file and of one read; MiB and bytes as the tool takes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Literal["testdfsio"] = "testdfsio"
    mode: DfsioMode
    files: int = Field(gt=0, description="files written; also the most maps that can run at once")
    file_size_mib: int = Field(gt=0)
    read_size_bytes: int = Field(gt=0, description="-bufferSize: bytes of one read, or one write")
    skip_size_bytes: int | None = Field(
        None, gt=0, description="skip: bytes left out after each read; None: as many as one read"
    )
    readers: int | None = Field(
        None, gt=0, description="maps let run at once; None: as many as fit"
    )
    storage_policy: StoragePolicy | None = Field(None, description="of the files; None: HDFS' own")
    erasure_coding: ErasureCoding | None = Field(None, description="None: replicas")
    compression: Compression | None = None

    @property
    def id(self) -> str:
        sizes = [f"b{self.read_size_bytes}"] * (self.read_size_bytes != DEFAULT_READ_BYTES)
        skips = [f"s{self.skip_size_bytes}"] * (self.skip_size_bytes is not None)
        readers = [f"r{self.readers}"] * (self.readers is not None)
        parts = (f"testdfsio-{self.mode}-n{self.files}", *sizes, *skips, *readers, *self._stored_as)
        return "-".join(parts).lower().replace("_", "")

    @property
    def label(self) -> str:
        """For people: 'TestDFSIO random read, 12 readers'."""
        return ", ".join((f"TestDFSIO {LABELS[self.mode]}", *self.variant))

    @property
    def variant(self) -> tuple[str, ...]:
        """What differs from a plain job of this mode, in words."""
        sized = self.read_size_bytes != DEFAULT_READ_BYTES
        what = "reads" if self.mode in READS else "writes"
        words = {
            f"{self.readers} readers": self.readers is not None,
            f"{what} of {size_words(self.read_size_bytes)}": sized and self.mode != "truncate",
            f"{size_words(self.skip_size_bytes or 1)} skipped": self.skip_size_bytes is not None,
        }
        return (*(word for word, holds in words.items() if holds), *self._stored_as)

    @property
    def _stored_as(self) -> tuple[str, ...]:
        found = (self.storage_policy, self.erasure_coding, self.compression)
        return tuple(name for name in found if name is not None)

    @property
    def data_set(self) -> str:
        """Names the files on HDFS: settings of one name work on the same files."""
        own = (self.mode,) if self.mode in OWN_DATA else ()
        parts = (f"n{self.files}", f"{self.file_size_mib}m", *self._stored_as, *own)
        return "-".join(parts).lower()

    @property
    def data_mib(self) -> float:
        """The data set, one replica, before any compression."""
        return float(self.files * self.file_size_mib)

    @property
    def disk_mib(self) -> float:
        """The most the trial holds on disk, one replica: files appended to are twice as long at last."""
        return self.data_mib * (2 if self.mode == "append" else 1)

    def copies(self, replication: int) -> float:
        """Bytes on disk for each byte of a file: its replicas, or its parity."""
        if self.erasure_coding is None:
            return float(replication)
        data, parity = units_of(self.erasure_coding)
        return (data + parity) / data

    @property
    def estimate_s(self) -> float:
        """A rough guess; a run corrects it by what it sees. Own data are written before they are used."""
        jobs = 2 if self.mode in OWN_DATA else 1
        rate_mib_s = (
            STREAM_ESTIMATE_MIB_S if self.compression is None else COMPRESSED_ESTIMATE_MIB_S
        )
        if self.readers is not None:
            rate_mib_s = min(rate_mib_s, self.readers * ONE_STREAM_ESTIMATE_MIB_S)
        return jobs * (JOB_START_ESTIMATE_S + self.data_mib / rate_mib_s)

    @property
    def window_s(self) -> float:
        """How long the window is, as far as it is known before: here a guess."""
        return self.estimate_s

    def writes_for(self, other: object) -> bool:
        """Whether this setting writes the data that `other` reads."""
        if not isinstance(other, DfsioSetting) or self.mode != "write":
            return False
        return other.mode in READS and self.data_set == other.data_set


def units_of(policy: str) -> tuple[int, int]:
    """Data and parity units of an erasure coding policy: RS-6-3-1024k to (6, 3)."""
    *_, data, parity, _ = policy.split("-")
    return int(data), int(parity)
