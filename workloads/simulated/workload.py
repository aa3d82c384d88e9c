"""`SimulatedWorkload`: a workload on a simulated cluster. Its clients leave output, and time passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.simulated.dfsio_clients import DfsioClients
from density_study.workloads.simulated.outcome import Use
from density_study.workloads.simulated.trial import SimulatedTrial
from density_study.workloads.simulated.ycsb_clients import YcsbClients


class Clients(Protocol):
    """The clients of one workload. Each lets the time pass that it takes."""

    def prepare(self, trial: SimulatedTrial) -> Prepared: ...

    def run(self, trial: SimulatedTrial) -> tuple[ClientRun, ...]:
        """Writes the clients' output into the record."""

    def collect(self, trial: SimulatedTrial, prepared: Prepared) -> Collected: ...


_CLIENTS: Mapping[str, Clients] = {"testdfsio": DfsioClients(), "ycsb": YcsbClients()}


class SimulatedWorkload:
    """For one trial. `use` and `window_s` (begin and end, epoch) tell monitors what they would have seen."""

    def __init__(self, context: TrialContext, test_case: TestCase) -> None:
        self._trial = SimulatedTrial(context, test_case)
        self._clients = _CLIENTS[test_case.workload]
        self.use = Use()
        self.window_s: tuple[float, float] | None = None

    def prepare(self, context: TrialContext, test_case: TestCase) -> Prepared:
        return self._clients.prepare(self._trial)

    def run(self, context: TrialContext, test_case: TestCase) -> tuple[ClientRun, ...]:
        clients = self._clients.run(self._trial)
        self.use = self._trial.outcome.use
        self.window_s = (
            min(client.start_epoch_s for client in clients),
            max(client.end_epoch_s for client in clients),
        )
        return clients

    def collect(self, context: TrialContext, test_case: TestCase, prepared: Prepared) -> Collected:
        return self._clients.collect(self._trial, prepared)
