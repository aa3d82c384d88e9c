"""`DfsioTestCase`: one TestDFSIO job with every knob fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import AnyTopology, ExistingTopology, Topology
from density_study.workloads.base.hardware import hardware_of
from density_study.workloads.base.test_case import JOB_LIMIT_IN_ESTIMATES, JobTestCase, TestCase
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.testdfsio.hdfs_policies import (
    Compression,
    ErasureCoding,
    StoragePolicy,
    maps_at_once,
    require_cacheable,
    require_containers,
    require_datanodes,
    require_nothing_of_existing,
    require_storage,
    units_of,
)
from density_study.workloads.testdfsio.modes import OWN_DATA, POSITIONED, READS, DfsioMode

DEFAULT_READ_BYTES = 2**20

JOB_START_ESTIMATE_S = 10.0  # measured: 9 s on two idle cores, monitors included
STREAM_ESTIMATE_MIB_S = 150.0  # on two cores, and of an existing cluster
CORE_ESTIMATE_MIB_S = STREAM_ESTIMATE_MIB_S / 2
ONE_STREAM_ESTIMATE_MIB_S = 60.0  # on two cores
FREE_STREAM_CORES = 4
"""With this number of cores to each stream, its map and its DataNode do not wait for each other's."""
COMPRESSED_ESTIMATE_MIB_S = 40.0  # on two cores
SEEKS_ESTIMATE_S = 100.0  # of one stream on an HDD
# Names for people, in the order in which test cases are shown.
LABELS: dict[DfsioMode, str] = {
    "write": "write",
    "append": "append",
    "read": "sequential read",
    "random": "random read",
    "backward": "backward read",
    "skip": "skip read",
    "truncate": "truncate",
}


def size_words(size_bytes: int) -> str:
    """1048576 to '1 MiB': in the largest binary unit that needs no fraction."""
    for unit, words in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit} {words}"
    return f"{size_bytes} B"


def output_files(client: ClientFiles) -> Iterator[tuple[str, str]]:
    """As `TestCase.raw_files`."""
    yield "dfsio-results", f"raw/{client.name}.log"
    yield "dfsio-io", "raw/io/part-*"
    yield "dfsio-history", "raw/history/*.jhist"


class DfsioTestCase(JobTestCase):
    """One TestDFSIO job. File sizes are in MiB and read sizes in bytes, as the tool takes them."""

    workload: Literal["testdfsio"] = "testdfsio"
    mode: DfsioMode
    files: int = Field(gt=0, description="number of files, and the maximum number of parallel maps")
    file_size_mib: int = Field(gt=0, description="size of one file in MiB")
    read_size_bytes: int = Field(gt=0, description="-bufferSize: bytes per read, or per write")
    skip_size_bytes: int | None = Field(
        None, gt=0, description="mode skip: bytes skipped after each read; null: one read size"
    )
    readers: int | None = Field(
        None, gt=0, description="limit on parallel maps; null: as many as the cluster runs"
    )
    storage_policy: StoragePolicy | None = Field(
        None, description="storage policy of the files; null: HDFS' default"
    )
    erasure_coding: ErasureCoding | None = Field(
        None, description="erasure coding of the files; null: replication"
    )
    compression: Compression | None = None

    @property
    def id(self) -> str:
        parts = [f"testdfsio-{self.mode}-n{self.files}"]
        if self.read_size_bytes != DEFAULT_READ_BYTES:
            parts.append(f"b{self.read_size_bytes}")
        if self.skip_size_bytes is not None:
            parts.append(f"s{self.skip_size_bytes}")
        if self.readers is not None:
            parts.append(f"r{self.readers}")
        return "-".join((*parts, *self._stored_as)).lower().replace("_", "")

    @property
    def label(self) -> str:
        """'TestDFSIO random read, 12 readers'."""
        return ", ".join((f"TestDFSIO {LABELS[self.mode]}", *self.variant))

    @property
    def mode_name(self) -> str:
        return self.mode

    @property
    def size_label(self) -> str:
        return f"{counted(self.files, 'file')} of {self.file_size_mib} MiB"

    @property
    def sort_key(self) -> tuple[float, ...]:
        place = list(LABELS).index(self.mode)
        return place, self.files, self.file_size_mib, float(self.readers or 0)

    @property
    def variant(self) -> tuple[str, ...]:
        """How the job differs from a plain job of its mode."""
        words = []
        if self.readers is not None:
            words.append(f"{self.readers} readers")
        if self.read_size_bytes != DEFAULT_READ_BYTES and self.mode != "truncate":
            what = "reads" if self.mode in READS else "writes"
            words.append(f"{what} of {size_words(self.read_size_bytes)}")
        if self.skip_size_bytes is not None:
            words.append(f"{size_words(self.skip_size_bytes)} skipped")
        return (*words, *self._stored_as)

    @property
    def _stored_as(self) -> tuple[str, ...]:
        options = (self.storage_policy, self.erasure_coding, self.compression)
        return tuple(option for option in options if option is not None)

    @property
    def data_set(self) -> str:
        """Name of the files on HDFS: test cases with the same name use the same files."""
        own = (self.mode,) if self.mode in OWN_DATA else ()
        parts = (f"n{self.files}", f"{self.file_size_mib}m", *self._stored_as, *own)
        return "-".join(parts).lower()

    @property
    def data_mib(self) -> float:
        """Size of the data set: one replica, uncompressed."""
        return float(self.files * self.file_size_mib)

    @property
    def file_bytes(self) -> int:
        return self.file_size_mib * 2**20

    @property
    def bytes_per_file(self) -> int:
        """Bytes of each file that the job processes."""
        if self.mode != "skip":
            return self.file_bytes // 2 if self.mode == "truncate" else self.file_bytes
        # Reads start at 0 and then every read + skip bytes; the last read of a file may be short.
        read = self.read_size_bytes
        stride = read + (self.skip_size_bytes or read)
        whole = (self.file_bytes - 1) // stride
        return whole * read + min(read, self.file_bytes - whole * stride)

    @property
    def asked_bytes(self) -> int:
        """Bytes that all streams together have to process."""
        return self.files * self.bytes_per_file

    def disk_use(self, replication: int) -> tuple[str, float]:
        growth = 2 if self.mode == "append" else 1  # an appended file doubles
        return f"testdfsio {self.data_set}", self.data_mib * growth * self.copies(replication)

    def copies(self, replication: int) -> float:
        """Bytes on disk per byte of a file, for replicas or for parity."""
        if self.erasure_coding is None:
            return float(replication)
        data, parity = units_of(self.erasure_coding)
        return (data + parity) / data

    @property
    def estimate_s(self) -> float:
        """A rough estimate, which a run replaces by what it observes."""
        return self._estimate_s(self._cores_mib_s(2), ONE_STREAM_ESTIMATE_MIB_S)

    def estimate_on(self, topology: AnyTopology) -> float:
        rate_mib_s = self._cluster_mib_s(topology, is_read=self.mode in READS)
        return self._estimate_s(rate_mib_s, self._stream_mib_s(topology))

    def _estimate_s(self, rate_mib_s: float, stream_mib_s: float) -> float:
        """A mode with its own data writes them first."""
        jobs = 2 if self.mode in OWN_DATA else 1
        streams = min(self.files, self.readers or self.files)
        if self.readers is not None:
            rate_mib_s = min(rate_mib_s, streams * stream_mib_s)
        if self.mode in POSITIONED:
            rate_mib_s = min(rate_mib_s, streams * SEEKS_ESTIMATE_S * self.read_size_bytes / 2**20)
        return jobs * (JOB_START_ESTIMATE_S + self.data_mib / rate_mib_s)

    def _cores_mib_s(self, cores: int) -> float:
        """Most that this number of cores process."""
        packed = (
            1.0 if self.compression is None else COMPRESSED_ESTIMATE_MIB_S / STREAM_ESTIMATE_MIB_S
        )
        return cores * CORE_ESTIMATE_MIB_S * packed

    def _stream_mib_s(self, topology: AnyTopology) -> float:
        """Most that one stream reads or writes: its drive may be the slowest."""
        hardware = hardware_of(topology)
        if hardware is None:
            return ONE_STREAM_ESTIMATE_MIB_S
        streams = min(self.files, self.readers or self.files)
        is_free = hardware.cores >= FREE_STREAM_CORES * streams
        most_mib_s = STREAM_ESTIMATE_MIB_S if is_free else ONE_STREAM_ESTIMATE_MIB_S
        return min(most_mib_s, hardware.slowest_mib_s or most_mib_s)

    def _cluster_mib_s(self, topology: AnyTopology, is_read: bool) -> float:
        """Most that the cluster processes: by its cores, its maps, its drives and its network."""
        hardware = hardware_of(topology)
        if hardware is None or not isinstance(topology, Topology):
            return self._cores_mib_s(2)
        maps = min(self.files, max(1, maps_at_once(topology)))
        return min(
            self._cores_mib_s(hardware.cores),
            max(STREAM_ESTIMATE_MIB_S, maps * ONE_STREAM_ESTIMATE_MIB_S),
            hardware.read_mib_s if is_read else hardware.written_mib_s,
        )

    @property
    def prepared(self) -> Hashable | None:
        return self.data_set if self.mode in READS else None

    def prepare_estimate_s(
        self, topology: AnyTopology, is_written: bool, has_copy: bool = False
    ) -> float:
        if is_written:
            return 0.0
        return JOB_START_ESTIMATE_S + self.data_mib / self._cluster_mib_s(topology, is_read=False)

    def limit_on(self, topology: AnyTopology) -> float:
        prepare_s = self.prepare_estimate_s(topology, is_written=False)
        return self.job_limit_on(topology) + JOB_LIMIT_IN_ESTIMATES * prepare_s

    def writes_for(self, other: TestCase) -> bool:
        if not isinstance(other, DfsioTestCase) or self.mode != "write":
            return False
        return other.mode in READS and self.data_set == other.data_set

    def check_topology(self, topology: AnyTopology) -> None:
        if isinstance(topology, ExistingTopology):
            require_nothing_of_existing(self.storage_policy, self.erasure_coding)
            return
        if self.readers is not None:
            require_containers(self.readers, topology)
        if self.erasure_coding is not None:
            require_datanodes(self.erasure_coding, topology)
        if self.storage_policy is not None:
            require_storage(self.storage_policy, topology)
        if self.mode in READS:
            # What a positioned read takes from disks is more than it asks for: all must come from the cache.
            whole_mib = self.data_mib if self.mode in POSITIONED else self.file_size_mib
            require_cacheable(
                self.mode, 0 if self.compression else whole_mib, self.erasure_coding, topology
            )

    def obstacle(self, topology: AnyTopology) -> InputError | None:
        if topology.store.hadoop:
            return None
        return InputError(
            f"{self.id}: a cluster with {topology.store.title} has no HDFS.",
            "testdfsio",
            "remove `testdfsio`, or let the study also have HBase.",
            ("workloads",),
        )

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield from output_files(client)

    def table_row(self) -> dict[str, Any]:
        return {**self.model_dump(), "asked_bytes": self.asked_bytes}

    def summary_fields(self) -> dict[str, Any]:
        named = {"files", "file_size_mib", "readers"}
        return {"mode": self.mode, "parameters": self.model_dump(include=named)}
