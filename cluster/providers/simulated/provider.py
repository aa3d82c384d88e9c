"""Provider `simulated`: stands in for the study's own in a rehearsal. It makes and removes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, NoReturn

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.provider import Leftovers, Provider
from density_study.cluster.providers.simulated.rehearsal import Rehearsal, read_rehearsal
from density_study.cluster.providers.simulated.service_times import service_times
from density_study.cluster.state.clock import SimulatedClock
from density_study.cluster.state.journal import Journal


class SimulatedProvider(Provider[Topology]):
    isolation = Isolation.UNKNOWN
    simulates = True

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        clock_of(journal)

    def destroy(self, site: Site, journal: Journal) -> None:
        if isinstance(journal.clock, SimulatedClock):  # `study reap` goes by the real one
            journal.clock.advance(service_times()["phases_s"]["down"])

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        return ()

    def transport(self, site: Site, journal: Journal) -> SimulatedTransport:
        return SimulatedTransport()

    def disclose(self, topology: Topology) -> dict[str, Any]:
        return {"simulated": "a queueing model; nothing was measured"}

    def memory_mib(self, topology: Topology) -> int:
        return sum(host.memory_mib for host in topology.occupied)


class SimulatedTransport:
    """No process runs, so none dies, and none can be started."""

    same_kernel = True

    def dead(self, processes: Sequence[ProcessId]) -> list[ProcessId]:
        return []

    def alive(self, process: ProcessId) -> bool:
        return False

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        return

    def collect(self, node: Node, folder: Path) -> None:
        return

    def at(self, node: Node, path: Path) -> PurePath:
        return path

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        _nothing_runs(command.name)

    serve = start

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        _nothing_runs(process.name)

    def put(self, node: Node, text: str, path: Path) -> None:
        _nothing_runs(str(path))

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        _nothing_runs(str(path))

    def python(self, node: Node) -> tuple[str, ...]:
        _nothing_runs("python")

    def act(self, node: Node, name: str, *arguments: Any) -> Any:
        _nothing_runs(name)


def rehearsal_of(site: Site) -> Rehearsal:
    """What the run of the build takes for true."""
    return read_rehearsal(site.root.parent.parent)


def clock_of(journal: Journal) -> SimulatedClock:
    """StudyError if the run goes by the real time: it would measure the model."""
    if not isinstance(journal.clock, SimulatedClock):
        raise StudyError(
            "a study cannot run on a simulated cluster.",
            str(journal.path.parent),
            "rehearse the study: study rehearse SPEC; or start a new run: study run SPEC --fresh.",
        )
    return journal.clock


def _nothing_runs(what: str) -> NoReturn:
    raise StudyError(
        f"nothing runs on a simulated cluster: {what}.",
        "study rehearse",
        "report it, with the study.",
    )
