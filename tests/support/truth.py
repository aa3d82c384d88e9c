"""`Truth`: content of a generated record, as numbers that the test knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.base.search import Probe
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import CacheUse, ColdProof
from tests.support.records import texts

PERIOD_S = 1.0
MIB = 2**20


@dataclass
class StageTruth:
    """A stage of a pipeline's genome, or of its cohort, on a node."""

    node: str
    genome: str
    stage: str
    start_s: float
    end_s: float
    core_s: float
    peak_kib: int
    read_bytes: int
    written_bytes: int
    exit_code: int = 0


@dataclass
class Truth:
    """The source data of a trial. Times by the controller's clock; change it before `close`.

    dool: (epoch_s, cells) after the since-boot row. ticks: rounds of cumulative ticks by node.
    latencies_us: operation -> seconds of the run -> latencies. maps: (start, end) of each stream.
    """

    trial: str
    test_case: TestCase
    start_s: float
    end_s: float
    dool: list[tuple[float, texts.Cells]] = field(default_factory=list)
    ticks: list[tuple[float, dict[str, tuple[int, int]]]] = field(default_factory=list)
    latencies_us: dict[str, list[list[int]]] = field(default_factory=dict)
    operations_start_s: float = 0.0
    returns: dict[str, dict[str, int]] = field(default_factory=dict)
    streams: list[tuple[int, int]] = field(default_factory=list)
    maps: list[tuple[float, float]] = field(default_factory=list)
    job: tuple[float, float] = (0.0, 0.0)
    exit_code: int | None = 0
    clock_offset_s: float = 0.0
    measured_clock_s: float | None = 0.0
    cold: ColdProof | None = None
    state: str = "complete"
    reasons: tuple[str, ...] = ()
    overhead_pair: int | None = None
    probe: Probe | None = None
    fault: InjectedFault | None = None
    asked: list[tuple[int, float]] = field(default_factory=list)
    """Piece of the schedule and operations due, of each second from operations_start_s on."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows acknowledged and found after a fault."""
    state_after: dict[str, Any] = field(default_factory=dict)
    """What the workload noted after the trial, but `rows`."""
    caches: CacheUse | None = None
    network: tuple[dict[str, Any], ...] = ()
    """What was measured of the network of its build, where that is a factor."""
    stages: list[StageTruth] = field(default_factory=list)
    answers: tuple[int, int, int] = (1000, 960, 950)
    stored: tuple[int, int, int] = (1900, 1900, 1900)
    """Variants planted, called, and both, of every genome after each calling stage."""
    monitored: bool = True
    devices: dict[tuple[str, str], str] = field(default_factory=dict)
    """Files of telemetry devices, by host and device."""
    late_s: float = 0.0
    """Time from the common start of several clients to their first operations."""
    threads_between_operations: float | None = 1.0
    """Share of a closed loop's time outside operations that its THINK log contains; None: no
    log."""

    @property
    def window_s(self) -> float:
        return self.end_s - self.start_s

    @property
    def measured_from_s(self) -> float:
        return self.start_s + getattr(self.test_case, "cut_s", 0.0)
