"""One trial in, one record out.

preparing -> running -> settling -> closed. A fault in any of them closes the record as `failed`
with the reason; an interrupt leaves it open, to be closed as `incomplete`.
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
from workloads.base.workload import Collected, Prepared, TrialContext
from workloads.execution.full_disks import full_disks
from workloads.execution.guest_cpu import between, read_guests
from workloads.execution.monitoring import Monitors
from workloads.execution.registry import WORKLOADS
from workloads.execution.run import Run
from workloads.monitors import MONITORS
from workloads.planning.plan import Step
from workloads.record.manifest import (
    ClientRun,
    ClockOffset,
    GuestCpu,
    Manifest,
    MonitorRun,
    PhaseSeconds,
    TargetRate,
    Window,
)
from workloads.record.record import Record


@dataclass
class _Seen:
    """What a trial has gathered so far; whatever happens, the manifest tells it."""

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
    """What can be said of a trial before it has begun."""
    if step.trial is None or step.setting is None or step.order is None:
        raise ValueError(f"step {step.index} ({step.kind}) is no trial")
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
    """Run the trial of `step` on `cluster`; returns its closed manifest, `complete` or `failed`.

    target: where the rate of its setting came from, if the plan left it symbolic.
    """
    draft = _with_cluster(draft_manifest(run, step), cluster).model_copy(update={"target": target})
    record = Record.open(run.records, draft)
    bench = TrialContext(cluster, transport, record, run.journal)
    seen = _Seen()
    try:
        _measure(run, step, bench, seen)
    except HostLostError as error:
        seen.lost = True
        seen.faults.append(str(error))
    except (StudyError, OSError) as error:
        seen.faults.append(str(error))
    if seen.faults and not seen.lost:
        seen.faults[:0] = full_disks(cluster)  # first: the cause of what follows
    manifest = _manifest(draft, seen)
    record.close(manifest)
    _journal(run, step, "closed", outcome=manifest.state)
    return manifest


def _measure(run: Run, step: Step, bench: TrialContext, seen: _Seen) -> None:
    setting: Any = step.setting
    workload = WORKLOADS[setting.workload]
    kinds = MONITORS if step.monitored else {}
    topology = bench.cluster.topology
    provider = provider_of(topology.provider)
    machines = (
        provider.machines(bench.cluster.site, topology, run.journal)
        if isinstance(provider, Guests)
        else machines_of_hosts(topology, bench.transport)
    )
    monitors = Monitors(bench, run.study.monitor.period, kinds, machines)
    clock = _Stopwatch(seen.times_s)
    _journal(run, step, "preparing")
    with clock.timing("prepare"):
        seen.prepared = workload.prepare(bench, setting)
    window_end_s = None
    try:
        with clock.timing("settle"):
            monitors.start()
        _journal(run, step, "running")
        guests_before = read_guests(bench.cluster)
        with clock.timing("measure"):
            seen.clients = workload.run(bench, setting)
        seen.guests = between(bench.cluster, guests_before, read_guests(bench.cluster))
        window_end_s = max(client.end_epoch_s for client in seen.clients)
        start_s = min(client.start_epoch_s for client in seen.clients)
        seen.window = Window(start_epoch_s=start_s, end_epoch_s=window_end_s)
        _journal(run, step, "settling")
    finally:
        with clock.timing("settle"):
            seen.monitors = monitors.stop(window_end_s)
            seen.clock = monitors.clock
    bench.check_daemons()
    seen.faults += [_exit_fault(client) for client in seen.clients if client.exit_code != 0]
    with clock.timing("settle"):
        seen.collected = workload.collect(bench, setting, seen.prepared)
    seen.faults += seen.collected.faults


def _exit_fault(client: ClientRun) -> str:
    if client.exit_code is None:
        return f"{client.name} did not end in time and was stopped"
    return f"{client.name} ended with {client.exit_code}; read {client.stderr}"


class _Stopwatch:
    """Adds the seconds spent in each named part to a mapping."""

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


def _manifest(draft: Manifest, seen: _Seen) -> Manifest:
    prepared = seen.prepared or Prepared(data_set_mib=0.0)
    return Manifest.model_validate(
        {
            **draft.model_dump(),
            "state": _state(seen),
            "reasons": tuple(seen.faults),
            "window": seen.window,
            "clients": seen.clients,
            "monitors": seen.monitors,
            "clock": seen.clock,
            "guests": seen.guests,
            "cold": seen.collected.cold or prepared.cold,
            "data_set_mib": prepared.data_set_mib if seen.prepared else None,
            "times_s": seen.times_s,
            "state_before": prepared.state or {},
            "state_after": seen.collected.state or {},
        }
    )


def _state(seen: _Seen) -> str:
    """A host that was lost says nothing of the setting: the trial is incomplete, and is repeated when
    the study goes on with all its hosts."""
    if seen.lost:
        return "incomplete"
    return "failed" if seen.faults else "complete"


def _journal(run: Run, step: Step, state: str, **outcome: str) -> None:
    run.journal.record(TrialState(trial=str(step.trial), state=state, **outcome))
