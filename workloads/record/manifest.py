"""`Manifest`: the description of one trial (manifest.json), complete enough for others to repeat it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from density_study.cluster.model.cluster import Phase
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Topology
from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.base.search import Probe
from density_study.workloads.base.values import (
    CacheUse,
    ClientRun,
    ClockOffset,
    ColdProof,
    ExportedSeries,
    Frozen,
    GuestCpu,
    MonitorRun,
    OthersLoad,
    TargetRate,
    Turns,
    Window,
)
from density_study.workloads.record.recorded import Imported, ImportedClient, RecordedTopology
from density_study.workloads.study.registry import AnyTestCase

FORMAT: Literal[1] = 1


class Manifest(Frozen):
    """manifest.json. Written last and atomically: a folder without one is not a record."""

    format: Literal[1] = FORMAT
    study: str
    run: str
    trial: str
    repetition: int
    build: str
    order: int = Field(description="position among the run's trials as executed, from 0")
    seed: int
    state: Literal["complete", "failed", "incomplete"]
    reasons: tuple[str, ...] = ()
    test_case_id: str
    test_case: AnyTestCase
    overhead_pair: int | None = Field(
        None, description="number of the monitoring-overhead pair; null: a regular trial"
    )
    monitored: bool = Field(True, description="whether the monitors ran")
    overhead_of: str | None = Field(
        None, description="telemetry device that the overhead pair is about; null: all monitors"
    )
    target: TargetRate | None = Field(
        None, description="resolved rate, if the target is relative to a measured saturation"
    )
    probe: Probe | None = Field(
        None,
        description="the probe of a search that the trial is, with its result; null: no search",
    )
    topology: RecordedTopology | Topology
    isolation: Isolation
    imported: Imported | None = Field(
        None, description="how a record that others made was read; null: a record of this program"
    )
    window: Window | None = Field(
        None, description="in the trial's time, which stands still in turns of another trial"
    )
    turns: Turns | None = Field(
        None, description="when the trial of a duet worked; null: all the time"
    )
    clients: tuple[ClientRun | ImportedClient, ...] = ()
    monitors: tuple[MonitorRun, ...] = ()
    clock: tuple[ClockOffset, ...] = ()
    guests: tuple[GuestCpu, ...] = Field(
        (), description="CPU time that each host gave its guests, to reconcile both"
    )
    others: OthersLoad | None = Field(
        None,
        description="load of others on an existing cluster; null: the cluster is the study's own",
    )
    exported: ExportedSeries | None = Field(
        None, description="what the Prometheus of an existing cluster counted; null: none is named"
    )
    fault: InjectedFault | None = Field(
        None, description="what the trial did to its cluster; null: nothing"
    )
    caches: CacheUse | None = Field(
        None, description="what caches of blocks did, where they count it; null: they do not"
    )
    cold: ColdProof | None = None
    data_set_mib: float | None = None
    total_ram_mib: float | None = None
    times_s: dict[Literal["prepare", "measure", "settle"], float] = Field(
        default={}, description="duration of each phase of the trial, in s"
    )
    bring_up: tuple[Phase, ...] = ()
    state_before: dict[str, Any] = Field(
        default={},
        description="state before the window: HBase regions, store files, locality, requests; "
        "HDFS usage",
    )
    state_after: dict[str, Any] = Field(default={}, description="the same after the window")
    files: dict[str, str] = Field(default={}, description="SHA-256 of every file in the record")
    disclosure: dict[str, Any] = Field(
        default={},
        description="the system under test: versions, hashes, kernel, CPU, disks, JVM flags, "
        "rendered XML",
    )
