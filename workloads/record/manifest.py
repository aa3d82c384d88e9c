"""`Manifest`: what one trial says of itself (manifest.json), enough for a stranger to repeat it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workloads.spec.settings import Setting

FORMAT: Literal[1] = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Window(_Frozen):
    """Workload start to exit, by the controller's clock, in epoch seconds."""

    start_epoch_s: float
    end_epoch_s: float


class ClientRun(_Frozen):
    """One client process (a TestDFSIO job, a YCSB client). Paths are relative to the record."""

    name: str
    node: str
    argv: tuple[str, ...]
    exit_code: int | None
    stdout: str
    stderr: str
    start_epoch_s: float
    end_epoch_s: float


class MonitorRun(_Frozen):
    """One monitor on one host. `kind` is the monitor's registered name: dool, nodecpu."""

    kind: str
    host: str
    file: str
    period_s: float
    started_epoch_s: float
    stopped_epoch_s: float


class GuestCpu(_Frozen):
    """CPU seconds a node's guest had of its host, and waited for a core, by the host's own count, between two
    readings around the window. Epoch seconds are the controller's."""

    node: str
    host: str
    cpu_s: float
    waited_s: float
    from_epoch_s: float
    to_epoch_s: float


class ClockOffset(_Frozen):
    """The host's clock minus the controller's, before and after, and how it was measured."""

    host: str
    before_s: float
    after_s: float
    method: str


class ColdProof(_Frozen):
    """How caches were emptied before a read, and what shows it. None: not known, not zero."""

    method: str
    evicted_bytes: int | None = None
    distinct_bytes_asked: int | None = None
    physical_read_bytes: int | None = None
    physical_write_bytes: int | None = None


class TargetRate(_Frozen):
    """Where a latency trial's rate came from: a percentage of a saturation measured on its build."""

    percent: float
    saturation_trial: str
    saturation_ops_s: float
    ops_s: float


class PhaseSeconds(_Frozen):
    name: str
    seconds: float


class Manifest(_Frozen):
    """manifest.json. Written last, atomically: a record without one is not a record."""

    format: Literal[1] = FORMAT
    study: str
    run: str
    trial: str
    repetition: int
    build: str
    order: int = Field(description="position among the run's trials, from 0, as really run")
    seed: int
    state: Literal["complete", "failed", "incomplete"]
    reasons: tuple[str, ...] = ()
    setting_id: str
    setting: Annotated[Setting, Field(discriminator="workload")]
    overhead_pair: int | None = Field(
        None, description="number of the pair that measures the monitors' cost; None: the study's"
    )
    monitored: bool = Field(True, description="whether the monitors ran")
    target: TargetRate | None = Field(None, description="of a target that the plan left symbolic")
    topology: dict[str, Any]
    isolation: Literal["process", "host", "vm"]
    window: Window | None = None
    clients: tuple[ClientRun, ...] = ()
    monitors: tuple[MonitorRun, ...] = ()
    clock: tuple[ClockOffset, ...] = ()
    guests: tuple[GuestCpu, ...] = Field(
        (), description="what the hosts gave each guest: guests and hosts are reconciled by it"
    )
    cold: ColdProof | None = None
    data_set_mib: float | None = None
    total_ram_mib: float | None = None
    times_s: dict[Literal["prepare", "measure", "settle"], float] = {}
    bring_up: tuple[PhaseSeconds, ...] = ()
    state_before: dict[str, Any] = Field(
        default={}, description="HBase regions, store files, locality, requests; HDFS usage"
    )
    state_after: dict[str, Any] = {}
    files: dict[str, str] = Field(default={}, description="SHA-256 of every file of the record")
    disclosure: dict[str, Any] = Field(
        default={}, description="versions, hashes, kernel, CPU, disks, JVM flags, rendered XML"
    )
