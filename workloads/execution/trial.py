"""Runs one trial, which leaves one record.

preparing -> running -> settling -> closed. A fault in any state closes the record as `failed` with its
reason; an interrupt leaves the record open, to be closed as `incomplete`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.lifecycle.quiet_hosts import quieted
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import HostLostError, StudyError, faults_of
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import out_of_memory, provider_of
from density_study.cluster.state.clock import Clock
from density_study.cluster.state.events import TrialState
from density_study.cluster.state.file_fault import file_fault
from density_study.workloads.base.search import Probe
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientRun, TargetRate, Window
from density_study.workloads.base.workload import TrialContext, Workload
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


@dataclass
class _Progress:
    """What a trial has gathered so far; its manifest keeps it, whatever happens. `facts`: by the manifest's
    fields."""

    clock: Clock
    facts: dict[str, Any] = field(default_factory=lambda: {"times_s": {}})
    faults: list[str] = field(default_factory=list)
    state: str = "complete"

    def end_by(self, error: StudyError | OSError) -> None:
        """Neither a lost host nor a file that cannot be written here is a fault of the test case: the trial
        is repeated when the run resumes."""
        fault = file_fault(error) if isinstance(error, OSError) else None
        told = faults_of(error) if isinstance(error, StudyError) else ()
        is_lost = any(isinstance(one, HostLostError) for one in told)
        self.faults.append(str(fault or error))
        self.state = "incomplete" if fault or is_lost else "failed"

    @contextmanager
    def timing(self, phase: str) -> Iterator[None]:
        """Adds the seconds spent in the block to those of the phase."""
        times_s, begun_s = self.facts["times_s"], self.clock.monotonic_s()
        try:
            yield
        finally:
            times_s[phase] = times_s.get(phase, 0.0) + self.clock.monotonic_s() - begun_s


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
    draft = _with_cluster(draft_manifest(run, step), cluster)
    draft = draft.model_copy(update={"target": target, "probe": probe})
    record = Record.open(run.records, draft)
    context = TrialContext(cluster, transport, record, run.journal)
    progress = _Progress(run.journal.clock)
    try:
        _measure(run, step, context, progress)
    except (StudyError, OSError) as error:
        progress.end_by(error)
    if progress.faults and progress.state != "incomplete":
        progress.state = "failed"
        # these explain the faults that follow
        progress.faults[:0] = [
            *out_of_memory(cluster.site, cluster.topology),
            *full_disks(cluster),
        ]
    ended = {"state": progress.state, "reasons": tuple(progress.faults)}
    manifest = Manifest.model_validate({**draft.model_dump(), **progress.facts, **ended})
    if probe is not None:
        manifest = manifest.model_copy(update={"probe": _judged(manifest, record.root)})
    record.close(manifest)
    _journal(run, step, "closed", outcome=manifest.state)
    return manifest


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


def _measure(run: Run, step: Step, context: TrialContext, progress: _Progress) -> None:
    site, topology = context.cluster.site, context.cluster.topology
    wanted = run.study.quiet and not provider_of(topology).simulates
    if wanted and isinstance(topology, Topology):  # no study asks it of an existing cluster
        quiet: AbstractContextManager[None] = quieted(site, topology, run.journal)
    else:
        quiet = nullcontext()
    with quiet:
        _measure_now(run, step, context, progress)


def _measure_now(run: Run, step: Step, context: TrialContext, progress: _Progress) -> None:
    test_case: Any = step.test_case
    facts = progress.facts
    workload, monitors = _means(run, step, context)
    _journal(run, step, "preparing")
    with progress.timing("prepare"):
        prepared = workload.prepare(context, test_case)
    facts |= {"data_set_mib": prepared.data_set_mib, "cold": prepared.cold}
    facts["state_before"] = prepared.state or {}
    window_end_s = None
    with read_around(around.MONITORS, context, test_case, facts):
        try:
            with progress.timing("settle"):
                monitors.start()
            _journal(run, step, "running")
            with read_around(around.CLIENTS, context, test_case, facts):
                with progress.timing("measure"):
                    facts["clients"] = clients = workload.run(context, test_case)
                facts["fault"] = next(iter(context.injected), None)
            window_end_s = max(client.end_epoch_s for client in clients)
            facts["window"] = window_of(clients, test_case)
            _journal(run, step, "settling")
        finally:
            with progress.timing("settle"):
                facts["monitors"] = monitors.stop(window_end_s)
                facts["clock"] = monitors.clock
    context.check_daemons()
    progress.faults += killed_in(facts["guests"])
    progress.faults += [_exit_fault(client) for client in clients if client.exit_code != 0]
    with progress.timing("settle"):
        collected = workload.collect(context, test_case, prepared)
    facts |= {"cold": collected.cold or prepared.cold, "state_after": collected.state or {}}
    facts["caches"] = collected.caches or facts["caches"]
    progress.faults += collected.faults


def window_of(clients: Sequence[ClientRun], test_case: TestCase) -> Window:
    """From start to exit. For several clients that start together: the time in which all of them run, where
    they run for a fixed time; a load lasts until its last row."""
    ends = [client.end_epoch_s for client in clients]
    begun = [client.begin_epoch_s for client in clients if client.begin_epoch_s is not None]
    if not begun:
        start_s = min(client.start_epoch_s for client in clients)
        return Window(start_epoch_s=start_s, end_epoch_s=max(ends))
    # clients wait for the slowest after their warm-up; the window counts the warm-up without that wait
    start_s = max(begun) - test_case.before_schedule_s
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


def _journal(run: Run, step: Step, state: str, **outcome: str) -> None:
    run.journal.record(TrialState(trial=str(step.trial), state=state, **outcome))
