"""Values that a trial produces and its manifest keeps: time window, client runs, monitors, clocks, cache
state."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """A model that rejects unknown keys, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Window(Frozen):
    """Measurement window: start to exit of the clients, in epoch seconds of the controller's clock."""

    start_epoch_s: float
    end_epoch_s: float


class ClientRun(Frozen):
    """One client process (a TestDFSIO job, a YCSB client). Paths are relative to the record.

    begin_epoch_s: the common start of several clients, by the controller's clock; None for one client.
    """

    name: str
    node: str
    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str
    stderr: str
    start_epoch_s: float
    end_epoch_s: float
    begin_epoch_s: float | None = None


FIRST_TURN_AFTER_S = 1.0
"""From the common start of the clients of a duet to its first turn: YCSB makes its threads meanwhile."""


class Turns(Frozen):
    """When a trial works, beside another one, in order: seconds from the first turn of either; in a manifest,
    epoch seconds of the controller's clock."""

    beside: str = Field(description="the trial that worked in the other turns")
    own: tuple[tuple[float, float], ...]

    @property
    def own_s(self) -> float:
        """How long it works. The other one works as long, to a millisecond per turn."""
        return sum(end_s - begin_s for begin_s, end_s in self.own)

    def since(self, start_s: float) -> Turns:
        """The same turns, with the first one at `start_s`."""
        own = tuple((start_s + begin_s, start_s + end_s) for begin_s, end_s in self.own)
        return self.model_copy(update={"own": own})


class ClientFiles(Protocol):
    """What a test case needs to name the output files of a client."""

    @property
    def name(self) -> str: ...

    @property
    def stdout(self) -> str: ...

    @property
    def stderr(self) -> str: ...


class MonitorRun(Frozen):
    """One monitor on one host. `kind` is the name of the file's reader: dool, nodecpu, sar or a device.
    `time_zone`: of local times in a file that others made. `files`: what it left beside its file."""

    kind: str
    host: str
    file: str
    period_s: float
    started_epoch_s: float
    stopped_epoch_s: float
    time_zone: str = ""
    files: tuple[str, ...] = ()


class GuestCpu(Frozen):
    """CPU time of a node's guest, and time spent waiting for a core, in seconds as the host counts them,
    between two readings around the window. Epoch seconds are the controller's.

    For a container: time for which its quota stopped it (throttled), and how many of its processes the kernel
    killed at its memory limit.
    """

    node: str
    host: str
    cpu_s: float
    waited_s: float
    from_epoch_s: float
    to_epoch_s: float
    out_of_memory: int | None = None


class ClockOffset(Frozen):
    """The host's clock minus the controller's, before and after the trial, and how it was measured."""

    host: str
    before_s: float
    after_s: float
    method: str


class ColdProof(Frozen):
    """How caches were emptied before a read, and the evidence for it. None means unknown, not zero.

    distinct_bytes_asked: without those that HDFS's cache holds.
    """

    method: str
    evicted_bytes: int | None = None
    distinct_bytes_asked: int | None = None
    physical_read_bytes: int | None = None
    physical_write_bytes: int | None = None


class OthersLoad(Frozen):
    """What others did on an existing cluster around a trial, by the cluster's counters. None: it did not
    report them.

    seconds: between the two readings, a few more than the window. regionservers_gone: those that stopped or
    restarted. faults: why something is not known.
    """

    seconds: float
    hbase_requests: float | None = None
    yarn_vcore_s: float | None = None
    regionservers_gone: tuple[str, ...] | None = None
    faults: tuple[str, ...] = ()


class ExportedFile(Frozen):
    """A host's samples of one telemetry device, as Prometheus had them."""

    device: str
    host: str
    file: str
    period_s: float


class ExportedSeries(Frozen):
    """What a Prometheus server counted during a trial. The files have this machine's time. clock_lead_s: that
    of the server's clock. faults: why something is not known."""

    url: str
    clock_lead_s: float | None = None
    clock_error_s: float | None = None
    files: tuple[ExportedFile, ...] = ()
    faults: tuple[str, ...] = ()


class CacheUse(Frozen):
    """What the RegionServers' block caches did around a trial, by their own counters, summed over servers.
    None: not known.

    declared: what the variant caches blocks in: heap, offheap, file, mmap or pmem; None: it declares nothing.
    engines: what each RegionServer says that it uses, where it is declared. L1 is on the heap; with a cache
    beside it, L1 has only indexes and Bloom filters, and L2 the data. size_mib: of L2, on each server.
    used_mib: of blocks in the declared one of all servers, at the end. faults: why something is not known.

    hdfs_pmem: the same of DataNodes, which count no hits. L2 is in bytes: misses are what they read from
    disks, and hits the rest of the requested bytes.
    """

    declared: str | None
    engines: dict[str, str | None]
    l1_hits: int | None = None
    l1_misses: int | None = None
    l2_hits: int | None = None
    l2_misses: int | None = None
    evictions: int | None = None
    size_mib: int | None = None
    used_mib: float | None = None
    faults: tuple[str, ...] = ()


class TargetRate(Frozen):
    """Origin of a latency trial's rate: a percentage of the saturation measured on the same build."""

    percent: float
    saturation_trial: str
    saturation_ops_s: float
    ops_s: float
