"""Steps: the plan carried out in its order, one at a time, whoever asks for the next.

A step is claimed, not assigned: `run_next_step` takes the first one that is not done, under the run's
lock. So the plan's seeded order holds exactly, in whatever order Airflow hands out its slots, and at
most one cluster stands at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cluster.lifecycle.bring_up import bring_up
from cluster.lifecycle.tear_down import release_hosts, tear_down
from cluster.model.cluster import Cluster, cluster_from_json
from cluster.model.errors import HostLostError, StudyError
from cluster.model.transport import Transport
from cluster.providers.provider import provider_of
from cluster.providers.stacks import ensure_stacks
from cluster.state import lease
from cluster.state.events import StepEnded, StepStarted
from workloads.execution.hbase_ready import row_written_and_read
from workloads.execution.run import Run
from workloads.execution.saturation import resolve
from workloads.execution.trial import draft_manifest, run_trial
from workloads.planning.plan import Step
from workloads.record.manifest import TargetRate
from workloads.record.record import Record, closed_records
from workloads.spec.settings import YcsbSetting

Outcome = Literal["ok", "failed", "skipped"]

OS_REMEDY = "Remedy: put that right and run the same command again; it goes on from there."
"""What the system refused (no space, no permission) names its path itself."""


@dataclass(frozen=True)
class StepOutcome:
    """How a step ended. `message` says why it failed or was skipped, in words for the user."""

    step: Step
    outcome: Outcome
    message: str = ""


def next_step(run: Run) -> Step | None:
    """The first step that is still to be done; None when the plan is through.

    A build all of whose trials are closed in an earlier opening of the run is not built again; one
    with a trial left is built anew (a crash left nothing of the old one worth trusting). A build
    that a killed step left is taken down; its trials are left until the run is opened again, for a
    client that outlived its step may still be working.
    """
    outcomes = _outcomes_since_opening(run)
    closed = _closed(run)
    cut = {started.build for started in _cut_short(run)}
    wanted = {step.build for step in run.plan.trials if step.trial not in closed}
    for step in run.plan.steps:
        if step.index in outcomes:
            continue
        if step.kind == "trial" and (step.trial in closed or step.build in cut):
            continue
        if step.kind == "up" and (step.build not in wanted or step.build in cut):
            continue
        if step.kind == "down" and not (_was_built(run, step.build, outcomes) or step.build in cut):
            continue
        return step
    return None


def what_is_left(run: Run) -> str:
    """In words, what the run is to be gone on with for; empty when the plan is through."""
    closed, outcomes = _closed(run), _outcomes_since_opening(run)
    trials = [
        step.label
        for step in run.plan.trials
        if step.trial not in closed and step.index not in outcomes
    ]
    step = next_step(run)
    if not trials and step is None:
        return ""
    left = f"{len(trials)} of {len(run.plan.trials)} trials are left"
    cut = "".join(f"{started.label!r} did not come to its end; " for started in _cut_short(run))
    return f"{cut}{left}" + ("" if cut or step is None else f", from {step.label!r} on")


def steps_left(run: Run) -> list[Step]:
    """What is to be done of a run just opened, in the plan's order: builds with a trial left."""
    closed = _closed(run)
    builds = {step.build for step in run.plan.trials if step.trial not in closed}
    return [step for step in run.plan.steps if step.build in builds and step.trial not in closed]


def run_next_step(run: Run) -> StepOutcome | None:
    """Claim the next step and carry it out. None when there is none left.

    Never raises for what a step can meet (a daemon that dies, a client that fails): that is its
    outcome. An interrupt passes through and leaves the step undone.
    """
    with run.step_lock():
        step = next_step(run)
        if step is None:
            return None
        run.journal.record(StepStarted(
            index=step.index, kind=step.kind, build=step.build, label=step.label, trial=step.trial,
        ))  # fmt: skip
        ended = _carry_out(run, step)
        run.journal.record(StepEnded(
            index=step.index, kind=step.kind, build=step.build, trial=step.trial,
            outcome=ended.outcome, message=ended.message,
        ))  # fmt: skip
        return ended


def close_run(run: Run) -> None:
    """Take down whatever of the run still stands, and prove it gone. Safe to repeat.

    The host is given back if steps are left (the run was stopped); after the last step the run keeps
    it through its analysis, which must not disturb another study's measurements, to `end_run`.
    TearDownError names what could not be removed.
    """
    with run.step_lock():
        for build in run.plan.builds:
            tear_down(run.site(build), run.journal)
        release_hosts(run.tag, run.journal)  # other machines: analysis does not need them
        if what_is_left(run):
            lease.release(run.tag)


def _carry_out(run: Run, step: Step) -> StepOutcome:
    try:
        if step.kind == "up":
            return _up(run, step)
        if step.kind == "down":
            return _down(run, step)
        return _trial(run, step)
    except StudyError as error:
        return StepOutcome(step, "failed", str(error))
    except OSError as error:
        return StepOutcome(step, "failed", f"{error}. {OS_REMEDY}")


def _up(run: Run, step: Step) -> StepOutcome:
    site = run.site(step.build)
    tear_down(site, run.journal)  # of a crashed attempt; of what never was, nothing
    try:
        bring_up(
            site,
            run.plan.topology_of(step.build),
            ensure_stacks(),
            run.journal,
            final_check=lambda cluster: row_written_and_read(cluster, run.journal),
        )
    except BaseException:
        tear_down(site, run.journal)  # a half-built cluster goes at once, whatever stopped it
        raise
    return StepOutcome(step, "ok")


def _down(run: Run, step: Step) -> StepOutcome:
    tear_down(run.site(step.build), run.journal)
    return StepOutcome(step, "ok")


def _trial(run: Run, step: Step) -> StepOutcome:
    up = next(s for s in run.plan.steps if s.kind == "up" and s.build == step.build)
    if _outcomes_since_opening(run).get(up.index) != "ok":
        return _not_run(run, step, f"{step.build} was not built: its bring-up failed")
    try:
        step, target = _with_target(run, step)
    except StudyError as error:  # of a trial that cannot begin: a fault of its own would be failed
        return _not_run(run, step, str(error))
    cluster = _cluster(run, step.build)
    transport = provider_of(cluster.topology.provider).transport(cluster.site, run.journal)
    lost = _lost(cluster, transport)
    if lost:
        return _not_run(run, step, lost)
    manifest = run_trial(run, step, cluster, transport, target)
    if manifest.state == "complete":
        return StepOutcome(step, "ok")
    return StepOutcome(step, "failed", "; ".join(manifest.reasons))


def _with_target(run: Run, step: Step) -> tuple[Step, TargetRate | None]:
    """The step with a symbolic target resolved, from what was measured on its build; journalled."""
    setting = step.setting
    if not isinstance(setting, YcsbSetting) or setting.target_percent is None:
        return step, None
    planned = [
        str(other.trial)
        for other in run.plan.trials
        if other.build == step.build
        if isinstance(other.setting, YcsbSetting) and other.setting.measures_for(setting)
    ]
    resolved, target = resolve(setting, planned, run.records, closed_records(run.records))
    run.journal.write("target-resolved", trial=step.trial, **target.model_dump())
    return step.model_copy(update={"setting": resolved}), target


def _lost(cluster: Cluster, transport: Transport) -> str:
    """Why the cluster is no longer what was built; empty if it is. Nothing is measured on less."""
    try:
        dead = transport.dead(cluster.processes)
    except HostLostError as error:
        return f"a node is lost: {error}"
    names = ", ".join(f"{process.name} on {process.node}" for process in dead)
    return f"the cluster is no longer what was built: {names} died before" if names else ""


def _not_run(run: Run, step: Step, reason: str) -> StepOutcome:
    """A trial that could not begin leaves a record too: it stays visible in the report."""
    draft = draft_manifest(run, step)
    Record.open(run.records, draft).close(draft.model_copy(update={"reasons": (reason,)}))
    return StepOutcome(step, "skipped", reason)


def _cluster(run: Run, build: str) -> Cluster:
    path = run.site(build).root / "cluster.json"
    return cluster_from_json(json.loads(path.read_text(encoding="utf-8")))


def _closed(run: Run) -> set[str]:
    """Trials that are done with, well or not: they are never run into their record again."""
    records = closed_records(run.records)
    return {name for name, manifest in records.items() if manifest.state != "incomplete"}


def _was_built(run: Run, build: str, outcomes: Mapping[int, Outcome]) -> bool:
    return any(
        step.kind == "up" and step.build == build and step.index in outcomes
        for step in run.plan.steps
    )


def _cut_short(run: Run) -> list[StepStarted]:
    """Steps that began and did not end since the run was last opened: their processes were killed.
    The caller holds the step lock, so none of them still runs."""
    began: dict[int, StepStarted] = {}
    for event in run.journal.since_opening(StepStarted, StepEnded):
        if isinstance(event, StepStarted):
            began[event.index] = event
        elif isinstance(event, StepEnded):
            began.pop(event.index, None)
    return list(began.values())


def _outcomes_since_opening(run: Run) -> dict[int, Outcome]:
    """Outcome of each step that ended since the run was last opened; the earlier clusters are gone."""
    return {ended.index: ended.outcome for ended in run.journal.since_opening(StepEnded)}
