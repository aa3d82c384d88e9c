"""`Workload`: what a trial runs. One folder and one line in `workloads/execution/registry.py` add another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeVar

from cluster.model.cluster import Cluster
from cluster.model.errors import StudyError
from cluster.model.transport import Transport
from cluster.state.journal import Journal
from cluster.state.timeout_scale import timeout_scale
from workloads.record.manifest import ClientRun, ColdProof
from workloads.record.record import Record

S = TypeVar("S", contravariant=True)


@dataclass(frozen=True)
class TrialContext:
    """What a workload may touch during one trial, and nothing else."""

    cluster: Cluster
    transport: Transport
    record: Record
    journal: Journal

    def at(self, path: Path) -> PurePath:
        """What the client's node calls a path of the record: for the arguments of a client."""
        return self.transport.at(self.cluster.topology.client, path)

    @property
    def timeout_scale(self) -> float:
        """Factor for limits of waiting: emulated guests take longer."""
        return timeout_scale(self.cluster.site.tag, self.journal) if self.journal else 1.0

    def check_daemons(self) -> None:
        """StudyError that names the daemons that no longer run; HostLostError if a host is silent."""
        dead = self.transport.dead(self.cluster.processes)
        if dead:
            names = ", ".join(f"{process.name} on {process.node}" for process in dead)
            raise StudyError(
                f"{names} died.",
                f"build {self.cluster.site.root.name}",
                "read the daemons' logs below the run's builds folder.",
            )


@dataclass(frozen=True)
class Prepared:
    """What preparation left: the state found before the window, and how caches were emptied."""

    data_set_mib: float
    cold: ColdProof | None = None
    state: dict[str, Any] | None = None


@dataclass(frozen=True)
class Collected:
    """What was found after the window. `faults` in plain words; any makes the trial `failed`."""

    faults: tuple[str, ...] = ()
    cold: ColdProof | None = None
    state: dict[str, Any] | None = None


class Workload(Protocol[S]):
    """Three acts around the measured window. Each raises StudyError when it cannot do its part."""

    def prepare(self, bench: TrialContext, setting: S) -> Prepared:
        """Bring data and caches to the state the setting is measured from. Not measured."""
        ...

    def run(self, bench: TrialContext, setting: S) -> tuple[ClientRun, ...]:
        """Run the clients to their exit. This is the window: nothing else belongs in here."""
        ...

    def collect(self, bench: TrialContext, setting: S, prepared: Prepared) -> Collected:
        """Fetch raw outputs into the record and say what went wrong, if anything did."""
        ...
