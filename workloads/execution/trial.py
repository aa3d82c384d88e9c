"""Runs one trial, which leaves one record.

preparing -> running -> settling -> closed. A fault in any state closes the record as `failed` with its
reason; an interrupt leaves the record open, to be closed as `incomplete`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.lifecycle.quiet_hosts import quieted
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import HostLostError, StudyError, faults_of
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import out_of_memory, provider_of
from density_study.cluster.state.events import TrialState
from density_study.cluster.state.file_fault import file_fault
from density_study.workloads.base.search import Probe
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientRun, TargetRate, Turns, Window
from density_study.workloads.base.workload import Prepared, TrialContext, Workload
from density_study.workloads.execution import around
from density_study.workloads.execution.around import read_around
from density_study.workloads.execution.hosts_around_trial import full_disks, killed_in
from density_study.workloads.execution.jvm_recordings import put_profiler
from density_study.workloads.execution.monitoring import Monitors, daemons_of
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.searching import judged
from density_study.workloads.monitors import with_devices
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record
from density_study.workloads.record.recorded import recorded
from density_study.workloads.study.registry import kind_of

if TYPE_CHECKING:  # its output needs the extra spark
    from density_study.workloads.simulated.monitors import SimulatedMonitors


def draft_manifest(run: Run, step: Step) -> Manifest:
    """The manifest of a trial before it begins."""
    if step.trial is None or step.test_case is None or step.order is None:
        raise ValueError(f"step {step.index} ({step.kind}) is not a trial")
    topology = run.plan.topology_of(step.build)
    return Manifest(
        study=run.study.study,
        run=run.id,
        trial=step.trial,
        repetition=step.repetition,
        build=step.build,
        order=step.order,
        seed=run.plan.seed,
        state="incomplete",
        test_case_id=step.test_case.id,
        test_case=step.test_case,
        overhead_pair=step.overhead_pair,
        monitored=step.monitored,
        overhead_of=step.overhead_of,
        topology=recorded(topology),
        isolation=topology.isolation,
    )


def run_trial(
    run: Run,
    step: Step,
    cluster: Cluster,
    transport: Transport,
    target: TargetRate | None = None,
    probe: Probe | None = None,
) -> Manifest:
    """Run the trial of `step` on `cluster`; returns the manifest of its closed record.

    target: the resolved rate of its test case, if the plan has a relative target. probe: the probe of a
    search that the trial is.
    """
    draft = draft_manifest(run, step).model_copy(update={"target": target, "probe": probe})
    trial = _Trial(run, step, draft, cluster, transport)
    (manifest,) = _carried_out([trial], trial.run_clients)
    return manifest


def run_duet(run: Run, both: Sequence[tuple[Step, Cluster, Transport, Turns]]) -> list[Manifest]:
    """Run two trials at once, whose clients work in turns; returns the manifests of their closed records.
    They are one measurement: an error of one ends both."""
    trials = [
        _Trial(run, step, draft_manifest(run, step), cluster, transport)
        for step, cluster, transport, _ in both
    ]
    test_case: Any = both[0][0].test_case
    duet = kind_of(test_case.workload).duet
    if duet is None:
        raise ValueError(f"{test_case.id} takes no turns")

    def run_clients() -> None:
        of_all = [turns for _, _, _, turns in both]
        contexts = [trial.context for trial in trials]
        begin_s, clients = duet(list(zip(contexts, of_all, strict=True)), test_case)
        for trial, own, turns in zip(trials, clients, of_all, strict=True):
            window = window_of(own, test_case, turns)
            trial.facts["times_s"]["measure"] = window.end_epoch_s - window.start_epoch_s
            trial.measured(own, window, turns.since(begin_s))

    return _carried_out(trials, run_clients)


def _carried_out(trials: Sequence[_Trial], run_clients: Callable[[], None]) -> list[Manifest]:
    """Carry out trials that are measured at once, on the same hosts, and close their records."""
    try:
        with trials[0].quiet():
            for trial in trials:
                trial.prepare()
            with ExitStack() as watched:
                for trial in trials:
                    watched.enter_context(trial.watched())
                run_clients()
            for trial in trials:
                trial.collect()
    except (StudyError, OSError) as error:
        for trial in trials:
            trial.end_by(error)
    return [trial.close() for trial in trials]


class _Trial:
    """A trial under way, with an open record. `facts`: what it has gathered so far, by the manifest's fields;
    its manifest keeps it, whatever happens."""

    def __init__(
        self, run: Run, step: Step, draft: Manifest, cluster: Cluster, transport: Transport
    ) -> None:
        self._run, self._step = run, step
        self._draft = _with_cluster(draft, cluster)
        self._record = Record.open(run.records, self._draft)
        self._test_case: Any = step.test_case
        self._prepared = Prepared(0.0)
        self._clients_ended_s: float | None = None
        self._faults: list[str] = []
        self._state = "complete"
        self.context = TrialContext(cluster, transport, self._record, run.journal)
        self.facts: dict[str, Any] = {"times_s": {}}

    def quiet(self) -> AbstractContextManager[None]:
        """The hosts' kernels make no noise meanwhile, if the study asks for it."""
        site, topology = self.context.cluster.site, self.context.cluster.topology
        wanted = self._run.study.quiet and not provider_of(topology).simulates
        if wanted and isinstance(topology, Topology):  # no study asks it of an existing cluster
            return quieted(site, topology, self._run.journal)
        return nullcontext()

    def prepare(self) -> None:
        self._workload, self._monitors = _means(self._run, self._step, self.context)
        self._journal("preparing")
        with self._timing("prepare"):
            self._prepared = self._workload.prepare(self.context, self._test_case)
        self.facts |= {"data_set_mib": self._prepared.data_set_mib, "cold": self._prepared.cold}
        self.facts["state_before"] = self._prepared.state or {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Monitors run meanwhile, and what is read around them and around clients is added to the facts."""
        with read_around(around.MONITORS, self.context, self._test_case, self.facts):
            try:
                with self._timing("settle"):
                    self._monitors.start()
                self._journal("running")
                with read_around(around.CLIENTS, self.context, self._test_case, self.facts):
                    yield
                self._journal("settling")
            finally:
                with self._timing("settle"):
                    self.facts["monitors"] = self._monitors.stop(self._clients_ended_s)
                    self.facts["clock"] = self._monitors.clock

    def run_clients(self) -> None:
        with self._timing("measure"):
            clients = self._workload.run(self.context, self._test_case)
        self.measured(clients, window_of(clients, self._test_case))

    def measured(
        self, clients: Sequence[ClientRun], window: Window, turns: Turns | None = None
    ) -> None:
        self._clients_ended_s = max(client.end_epoch_s for client in clients)
        injected = next(iter(self.context.injected), None)
        self.facts |= {"clients": clients, "fault": injected, "window": window, "turns": turns}

    def collect(self) -> None:
        self.context.check_daemons()
        self._faults += killed_in(self.facts["guests"])
        clients: Sequence[ClientRun] = self.facts["clients"]
        self._faults += [_exit_fault(client) for client in clients if client.exit_code != 0]
        with self._timing("settle"):
            collected = self._workload.collect(self.context, self._test_case, self._prepared)
        self.facts |= {"cold": collected.cold or self._prepared.cold}
        self.facts |= {"state_after": collected.state or {}}
        self.facts["caches"] = collected.caches or self.facts["caches"]
        self._faults += collected.faults

    def end_by(self, error: StudyError | OSError) -> None:
        """Neither a lost host nor a file that cannot be written here is a fault of the test case: the trial
        is repeated when the run resumes."""
        fault = file_fault(error) if isinstance(error, OSError) else None
        told = faults_of(error) if isinstance(error, StudyError) else ()
        is_lost = any(isinstance(one, HostLostError) for one in told)
        self._faults.append(str(fault or error))
        self._state = "incomplete" if fault or is_lost else "failed"

    def close(self) -> Manifest:
        cluster = self.context.cluster
        if self._faults and self._state != "incomplete":
            self._state = "failed"
            # these explain the faults that follow
            self._faults[:0] = [
                *out_of_memory(cluster.site, cluster.topology),
                *full_disks(cluster),
            ]
        ended = {"state": self._state, "reasons": tuple(self._faults)}
        manifest = Manifest.model_validate({**self._draft.model_dump(), **self.facts, **ended})
        if manifest.probe is not None:
            probe = _judged(manifest, self._record.root)
            manifest = manifest.model_copy(update={"probe": probe})
        self._record.close(manifest)
        self._journal("closed", outcome=manifest.state)
        return manifest

    @contextmanager
    def _timing(self, phase: str) -> Iterator[None]:
        """Adds the seconds spent in the block to those of the phase."""
        clock, times_s = self._run.journal.clock, self.facts["times_s"]
        begun_s = clock.monotonic_s()
        try:
            yield
        finally:
            times_s[phase] = times_s.get(phase, 0.0) + clock.monotonic_s() - begun_s

    def _journal(self, state: str, **outcome: str) -> None:
        trial = str(self._step.trial)
        self._run.journal.record(TrialState(trial=trial, state=state, **outcome))


def _judged(manifest: Manifest, record: Path) -> Probe | None:
    """A trial that did not complete leaves its probe without a result."""
    if manifest.state == "complete":
        return judged(manifest, record)
    assert manifest.probe is not None
    return manifest.probe.model_copy(update={"why": "; ".join(manifest.reasons)})


def _means(
    run: Run, step: Step, context: TrialContext
) -> tuple[Workload[Any], Monitors | SimulatedMonitors]:
    """What the trial runs, and what watches it."""
    test_case: Any = step.test_case
    topology, period_s = context.cluster.topology, run.study.monitor.period
    provider = provider_of(topology)
    if provider.simulates:
        from density_study.workloads.simulated.monitors import SimulatedMonitors
        from density_study.workloads.simulated.workload import SimulatedWorkload

        simulated = SimulatedWorkload(context, test_case)
        return simulated, SimulatedMonitors(context, period_s, step.monitored, simulated)
    machines = provider.machines(context.cluster.site, topology, run.journal)
    daemons = daemons_of(context.cluster, machines)
    devices = run.study.monitor.also if step.devices is None else step.devices
    profiled = step.monitored and "profile" in devices
    profiler = put_profiler(context.cluster.site, machines) if profiled else {}
    access = context.cluster.endpoints.access
    kinds = with_devices(devices, daemons, profiler, access) if step.monitored else {}
    return kind_of(test_case.workload).runner(), Monitors(context, period_s, kinds, machines)


def window_of(
    clients: Sequence[ClientRun], test_case: TestCase, turns: Turns | None = None
) -> Window:
    """The measurement window of a trial.

    One client: from its start to its exit. Several clients that start together: the time in which all of them
    run, or for a load, until the last one has written its last row. With `turns`: from the common start over
    the trial's own turns.
    """
    ends = [client.end_epoch_s for client in clients]
    begun = [client.begin_epoch_s for client in clients if client.begin_epoch_s is not None]
    if not begun:
        start_s = min(client.start_epoch_s for client in clients)
        return Window(start_epoch_s=start_s, end_epoch_s=max(ends))
    # clients wait for the slowest after their warm-up; the window counts the warm-up without that wait
    start_s = max(begun) - test_case.before_schedule_s
    if turns is not None:
        return Window(start_epoch_s=start_s, end_epoch_s=max(begun) + turns.own_s)
    return Window(
        start_epoch_s=start_s, end_epoch_s=min(ends) if test_case.has_steady_rate else max(ends)
    )


def _exit_fault(client: ClientRun) -> str:
    if client.exit_code is None:
        return f"{client.name} was stopped by its timeout"
    return f"{client.name} exited with {client.exit_code}; read {client.stderr}"


def _with_cluster(draft: Manifest, cluster: Cluster) -> Manifest:
    memory_mib = provider_of(cluster.topology).memory_mib(cluster.topology)
    return draft.model_copy(
        update={
            "bring_up": cluster.phases,
            "disclosure": cluster.disclosure,
            "total_ram_mib": None if cluster.topology.existing else float(memory_mib),
        }
    )
