"""Runs one trial, which leaves one record.

preparing -> running -> settling -> closed. A fault in any state closes the record as `failed` with its
reason; an interrupt leaves the record open, to be closed as `incomplete`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from cluster.model.cluster import Cluster
from cluster.model.errors import HostLostError, StudyError
from cluster.model.topology import topology_to_json
from cluster.model.transport import Transport
from cluster.providers.provider import Guests, machines_of_hosts, provider_of
from cluster.state.events import TrialState
from workloads.base.values import (
    ClientRun,
    ClockOffset,
    GuestCpu,
    MonitorRun,
    PhaseSeconds,
    TargetRate,
    Window,
)
from workloads.base.workload import Collected, Prepared, TrialContext
from workloads.execution.full_disks import full_disks
from workloads.execution.guest_cpu import between, read_guests
from workloads.execution.monitoring import Monitors
from workloads.execution.run import Run
from workloads.monitors import MONITORS
from workloads.planning.plan import Step
from workloads.record.manifest import Manifest
from workloads.record.record import Record
from workloads.spec.registry import kind_of


@dataclass
class _Progress:
    """Everything a trial has gathered so far; the manifest keeps it, whatever happens."""

    prepared: Prepared | None = None
    clients: tuple[ClientRun, ...] = ()
    monitors: tuple[MonitorRun, ...] = ()
    clock: tuple[ClockOffset, ...] = ()
    guests: tuple[GuestCpu, ...] = ()
    collected: Collected = field(default_factory=Collected)
    window: Window | None = None
    times_s: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    lost: bool = False


def draft_manifest(run: Run, step: Step) -> Manifest:
    """The manifest of a trial before it begins."""
    if step.trial is None or step.setting is None or step.order is None:
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
        setting_id=step.setting.id,
        setting=step.setting,
        overhead_pair=step.overhead_pair,
        monitored=step.monitored,
        topology=topology_to_json(topology),
        isolation=topology.isolation,
    )


def run_trial(
    run: Run,
    step: Step,
    cluster: Cluster,
    transport: Transport,
    target: TargetRate | None = None,
) -> Manifest:
    """Run the trial of `step` on `cluster`; returns the manifest of its closed record.

    target: the resolved rate of its setting, if the plan has a relative target.
    """
    draft = _with_cluster(draft_manifest(run, step), cluster).model_copy(update={"target": target})
    record = Record.open(run.records, draft)
    context = TrialContext(cluster, transport, record, run.journal)
    progress = _Progress()
    try:
        _measure(run, step, context, progress)
    except HostLostError as error:
        progress.lost = True
        progress.faults.append(str(error))
    except (StudyError, OSError) as error:
        progress.faults.append(str(error))
    if progress.faults and not progress.lost:
        progress.faults[:0] = full_disks(cluster)  # a full disk explains the faults that follow
    manifest = _manifest(draft, progress)
    record.close(manifest)
    _journal(run, step, "closed", outcome=manifest.state)
    return manifest


def _measure(run: Run, step: Step, context: TrialContext, progress: _Progress) -> None:
    setting: Any = step.setting
    workload = kind_of(setting.workload).runner()
    kinds = MONITORS if step.monitored else {}
    topology = context.cluster.topology
    provider = provider_of(topology.provider)
    machines = (
        provider.machines(context.cluster.site, topology, run.journal)
        if isinstance(provider, Guests)
        else machines_of_hosts(topology, context.transport)
    )
    monitors = Monitors(context, run.study.monitor.period, kinds, machines)
    clock = _Stopwatch(progress.times_s)
    _journal(run, step, "preparing")
    with clock.timing("prepare"):
        progress.prepared = workload.prepare(context, setting)
    window_end_s = None
    try:
        with clock.timing("settle"):
            monitors.start()
        _journal(run, step, "running")
        guests_before = read_guests(context.cluster)
        with clock.timing("measure"):
            progress.clients = workload.run(context, setting)
        progress.guests = between(context.cluster, guests_before, read_guests(context.cluster))
        window_end_s = max(client.end_epoch_s for client in progress.clients)
        start_s = min(client.start_epoch_s for client in progress.clients)
        progress.window = Window(start_epoch_s=start_s, end_epoch_s=window_end_s)
        _journal(run, step, "settling")
    finally:
        with clock.timing("settle"):
            progress.monitors = monitors.stop(window_end_s)
            progress.clock = monitors.clock
    context.check_daemons()
    progress.faults += [_exit_fault(client) for client in progress.clients if client.exit_code != 0]
    with clock.timing("settle"):
        progress.collected = workload.collect(context, setting, progress.prepared)
    progress.faults += progress.collected.faults


def _exit_fault(client: ClientRun) -> str:
    if client.exit_code is None:
        return f"{client.name} was stopped by its timeout"
    return f"{client.name} exited with {client.exit_code}; read {client.stderr}"


class _Stopwatch:
    """Adds the seconds spent in each named phase to a mapping."""

    def __init__(self, times_s: dict[str, float]) -> None:
        self._times_s = times_s
        self._name = ""
        self._start = 0.0

    def timing(self, name: str) -> _Stopwatch:
        self._name = name
        return self

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        spent_s = time.monotonic() - self._start
        self._times_s[self._name] = self._times_s.get(self._name, 0.0) + spent_s


def _with_cluster(draft: Manifest, cluster: Cluster) -> Manifest:
    return draft.model_copy(
        update={
            "bring_up": tuple(
                PhaseSeconds(name=phase.name, seconds=phase.seconds) for phase in cluster.phases
            ),
            "disclosure": cluster.disclosure,
            "total_ram_mib": float(
                provider_of(cluster.topology.provider).memory_mib(cluster.topology)
            ),
        }
    )


def _manifest(draft: Manifest, progress: _Progress) -> Manifest:
    prepared = progress.prepared or Prepared(data_set_mib=0.0)
    return Manifest.model_validate(
        {
            **draft.model_dump(),
            "state": _state(progress),
            "reasons": tuple(progress.faults),
            "window": progress.window,
            "clients": progress.clients,
            "monitors": progress.monitors,
            "clock": progress.clock,
            "guests": progress.guests,
            "cold": progress.collected.cold or prepared.cold,
            "data_set_mib": prepared.data_set_mib if progress.prepared else None,
            "times_s": progress.times_s,
            "state_before": prepared.state or {},
            "state_after": progress.collected.state or {},
        }
    )


def _state(progress: _Progress) -> str:
    """The loss of a host is not a fault of the setting: the trial is incomplete, and is repeated when the run
    resumes with all its hosts."""
    if progress.lost:
        return "incomplete"
    return "failed" if progress.faults else "complete"


def _journal(run: Run, step: Step, state: str, **outcome: str) -> None:
    run.journal.record(TrialState(trial=str(step.trial), state=state, **outcome))
