"""`Workload`: what a trial runs; `WorkloadKind`: how a workload is registered.

To add a workload, write one folder like `workloads/testdfsio` and register its `WorkloadKind`: in
`workloads/study/registry.py`, or from another package by an entry point of the group
`density_study.workloads`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeVar

from density_study.cluster.lifecycle.startup_monitor import why_dead
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.existing.limits import check_limits
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import timeout_scale
from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.base.metric import MetricKind
from density_study.workloads.base.reader import Reader
from density_study.workloads.base.rows import Facts, Rows
from density_study.workloads.base.test_case import TestCase, WorkloadSpec
from density_study.workloads.base.values import CacheUse, ClientRun, ColdProof, Turns
from density_study.workloads.tables import Table

S = TypeVar("S", contravariant=True)


@dataclass(frozen=True)
class RecordFolder:
    """Directory that receives the files of one trial."""

    root: Path

    @property
    def raw(self) -> Path:
        """Output of the clients."""
        return self.root / "raw"

    @property
    def monitor(self) -> Path:
        """Output of the monitors."""
        return self.root / "monitor"


@dataclass(frozen=True)
class TrialContext:
    """Everything that a workload may use during one trial."""

    cluster: Cluster
    transport: Transport
    record: RecordFolder
    journal: Journal
    injected: list[InjectedFault] = field(default_factory=list)
    """What the trial did to the cluster."""

    def at(self, path: Path, node: Node | None = None) -> PurePath:
        """Path of a record file as `node` sees it (default: the first client), for arguments of a client."""
        return self.transport.at(node or self.cluster.topology.client, path)

    @property
    def timeout_scale(self) -> float:
        """Factor on every timeout: emulated guests take longer."""
        return timeout_scale(self.cluster.site.tag, self.journal)

    def check_daemons(self) -> None:
        """StudyError that names the daemons that have died, with their last words, except for those that the
        trial killed; HostLostError if a host does not respond."""
        killed = {(fault.node, fault.name) for fault in self.injected}
        dead = self.transport.dead(self.cluster.processes)
        dead = [process for process in dead if (process.node, process.name) not in killed]
        if dead:
            raise StudyError(
                f"{why_dead(self.cluster, self.transport, dead)}.",
                f"build {self.cluster.site.root.name}",
                "read the daemons' logs below the run's builds folder.",
            )

    def check_limits(self) -> None:
        """StudyError if others on a cluster that is not the study's own would be disturbed."""
        check_limits(self.cluster)


@dataclass(frozen=True)
class Prepared:
    """Result of preparation: the state before the window, and how caches were emptied."""

    data_set_mib: float
    cold: ColdProof | None = None
    state: dict[str, Any] | None = None


@dataclass(frozen=True)
class Collected:
    """Result of collection. Any fault, a sentence for people, makes the trial `failed`. `caches`: of HDFS."""

    faults: tuple[str, ...] = ()
    cold: ColdProof | None = None
    state: dict[str, Any] | None = None
    caches: CacheUse | None = None


RunDuet = Callable[
    [Sequence[tuple[TrialContext, Turns]], Any], tuple[float, list[tuple[ClientRun, ...]]]
]
"""The trials with their turns, and their test case -> the moment at which the first turn begins, in epoch
seconds, and the clients of each trial."""


class Workload(Protocol[S]):
    """Three phases of a trial. Each raises StudyError if it cannot do its part."""

    def prepare(self, context: TrialContext, test_case: S) -> Prepared:
        """Bring data and caches into the state that the test case is measured from. Not measured."""

    def run(self, context: TrialContext, test_case: S) -> tuple[ClientRun, ...]:
        """Run the clients until they exit. This is the measurement window: do nothing else here."""

    def collect(self, context: TrialContext, test_case: S, prepared: Prepared) -> Collected:
        """Fetch raw output into the record, and report faults."""


@dataclass(frozen=True)
class WorkloadKind:
    """Registration of a workload. Plans, manifests and tables store `name`."""

    name: str
    specs: Mapping[str, type[WorkloadSpec]]
    """Models of the study file, by key in an entry of `workloads`."""
    test_case: type[TestCase]
    runner: Callable[[], Workload[Any]]
    """Imports the workload only when a trial runs: reading plans and manifests does not need it."""
    title: str
    """Its name for people: 'YCSB'."""
    metrics: tuple[MetricKind, ...]
    """Its own metrics, in the order of summary.json."""
    rate: str
    """Name of the metric that is the test case's rate: `throughput`, ..."""
    rate_words: str
    """Unit of that metric in sentences of the report: 'operations per second'."""
    rates_title: str
    """Title of the figure of its rates: 'YCSB throughput'."""
    rates_caption: str
    """Caption of that figure: 'Successful operations per second, by density.'"""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What distinguishes its test cases in summary.json, by name: the meaning, with its unit."""
    tables: tuple[Table, ...] = ()
    """Tables that its readers make. Our own workloads declare theirs in `workloads/tables/tables.toml`."""
    readers: Mapping[str, Reader] = field(default_factory=dict)
    """By kind of file, as `TestCase.raw_files` names them. Our own readers are in `workloads/rows/raw`."""
    facts: Callable[[Rows], Facts] | None = None
    """Metrics and checks of a trial, from its rows. Our own are in `workloads/rows/facts.py`, which
    Spark's executors load without the models of test cases."""
    duet: RunDuet | None = None
    """Runs the clients of two trials at once, in turns; None: no test case takes turns."""
    imported: type[TestCase] | None = None
    """A test case of records that others made; None: they cannot be imported."""

    @property
    def rate_unit(self) -> str:
        """Unit of its rate: `ops/s`, `MiB/s`."""
        return next(metric.unit for metric in self.metrics if metric.name == self.rate)
