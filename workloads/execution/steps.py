"""Executes the plan's steps in order, one at a time, whichever process calls for the next one.

Steps are claimed, not assigned: `run_next_step` takes the first open step under the run's lock. The plan's
seeded order therefore holds exactly, in whatever order Airflow schedules its slots, and at most one
cluster runs at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cluster.lifecycle.bring_up import bring_up
from cluster.lifecycle.tear_down import release_hosts, tear_down
from cluster.model.cluster import Cluster, read_cluster
from cluster.model.errors import HostLostError, StudyError
from cluster.model.transport import Transport
from cluster.providers.provider import provider_of
from cluster.providers.stacks import ensure_stacks
from cluster.state import lease
from cluster.state.events import StepEnded, StepStarted, TrialState
from workloads.base.values import TargetRate
from workloads.execution.hbase_ready import row_written_and_read
from workloads.execution.run import Run
from workloads.execution.saturation import resolve
from workloads.execution.trial import draft_manifest, run_trial
from workloads.planning.plan import Step
from workloads.record.record import Record, closed_trials, read_manifest

Outcome = Literal["ok", "failed", "skipped"]

OS_REMEDY = "Remedy: correct this and run the same command again; it resumes from there."
"""Errors of the operating system (no space, no permission) name their path themselves."""


@dataclass(frozen=True)
class StepOutcome:
    """How a step ended. `message` explains to the user why it failed or was skipped."""

    step: Step
    outcome: Outcome
    message: str = ""


def next_step(run: Run) -> Step | None:
    """The first open step; None when the plan is complete.

    A build is skipped if all its trials were closed when the run was last opened. A build with an open
    trial is built anew, because nothing of a crashed cluster can be trusted. A build with a killed step is
    torn down, and its trials stay open until the run is opened again: a client that outlived its step may
    still be running.
    """
    outcomes = _outcomes_since_opening(run)
    closed = _closed(run)
    killed = {started.build for started in _killed_steps(run)}
    needed = {step.build for step in run.plan.trials if step.trial not in closed}
    built = {step.build for step in run.plan.steps if step.kind == "up" and step.index in outcomes}
    due = {"up": needed - killed, "trial": run.plan.builds.keys() - killed, "down": built | killed}
    for step in run.plan.steps:
        if step.build in due[step.kind] and step.index not in outcomes and step.trial not in closed:
            return step
    return None


def what_is_left(run: Run) -> str:
    """A sentence about the work that remains; empty when the plan is complete."""
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
    killed = "".join(f"{started.label!r} did not finish; " for started in _killed_steps(run))
    return f"{killed}{left}" + ("" if killed or step is None else f", starting with {step.label!r}")


def steps_left(run: Run) -> list[Step]:
    """Steps of the builds with an open trial, in the plan's order, for a run that was just opened."""
    closed = _closed(run)
    builds = {step.build for step in run.plan.trials if step.trial not in closed}
    return [step for step in run.plan.steps if step.build in builds and step.trial not in closed]


def run_next_step(run: Run) -> StepOutcome | None:
    """Claim and execute the next step. None when no step is left.

    Expected failures (a daemon dies, a client fails) become the step's outcome and are not raised. An
    interrupt is raised and leaves the step open.
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
    """Tear down everything of the run that still exists, and verify that it is gone. Safe to repeat.

    If steps are left (the run was stopped), this releases the host. After the last step the run keeps the
    host until `end_run`, because its analysis must not disturb another study's measurements. TearDownError
    names what could not be removed.
    """
    with run.step_lock():
        for build in run.plan.builds:
            tear_down(run.site(build), run.journal)
        release_hosts(run.tag, run.journal)  # other machines, which the analysis does not use
        if what_is_left(run):
            lease.release(run.tag)


def _carry_out(run: Run, step: Step) -> StepOutcome:
    try:
        if step.kind == "up":
            return _up(run, step)
        if step.kind == "trial":
            return _trial(run, step)
        tear_down(run.site(step.build), run.journal)
        return StepOutcome(step, "ok")
    except StudyError as error:
        return StepOutcome(step, "failed", str(error))
    except OSError as error:
        return StepOutcome(step, "failed", f"{error}. {OS_REMEDY}")


def _up(run: Run, step: Step) -> StepOutcome:
    site = run.site(step.build)
    tear_down(site, run.journal)  # remains of a crashed attempt, if any
    topology = run.plan.topology_of(step.build)
    try:
        bring_up(
            site,
            topology,
            ensure_stacks(topology.versions),
            run.journal,
            final_check=lambda cluster: row_written_and_read(cluster, run.journal),
        )
    except BaseException:
        tear_down(site, run.journal)  # an incomplete cluster never stays, whatever stopped it
        raise
    return StepOutcome(step, "ok")


def _trial(run: Run, step: Step) -> StepOutcome:
    up = next(s for s in run.plan.steps if s.kind == "up" and s.build == step.build)
    if _outcomes_since_opening(run).get(up.index) != "ok":
        return _not_run(run, step, f"{step.build} does not exist: its bring-up failed")
    try:
        step, target = _with_target(run, step)
    except StudyError as error:  # the trial cannot begin: it is incomplete, not failed
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
    """The step with a relative target resolved by what was measured on its build. Journals the rate."""
    setting = step.setting
    if setting is None or setting.target_share is None:
        return step, None
    planned = [
        str(other.trial)
        for other in run.plan.trials
        if other.build == step.build
        if other.setting is not None and other.setting.measures_for(setting)
    ]
    resolved, target = resolve(setting, planned, run.records)
    run.journal.write("target-resolved", trial=step.trial, **target.model_dump())
    return step.model_copy(update={"setting": resolved}), target


def _lost(cluster: Cluster, transport: Transport) -> str:
    """Which node or daemon the cluster has lost; empty if it is intact. Trials need the whole cluster."""
    try:
        dead = transport.dead(cluster.processes)
    except HostLostError as error:
        return f"a node is lost: {error}"
    names = ", ".join(f"{process.name} on {process.node}" for process in dead)
    return f"the cluster is not intact: {names} died before the trial" if names else ""


def _not_run(run: Run, step: Step, reason: str) -> StepOutcome:
    """Close an incomplete record for a trial that could not begin, so that the report shows it."""
    draft = draft_manifest(run, step)
    Record.open(run.records, draft).close(draft.model_copy(update={"reasons": (reason,)}))
    return StepOutcome(step, "skipped", reason)


def _cluster(run: Run, build: str) -> Cluster:
    return read_cluster(run.site(build).root)


def _closed(run: Run) -> set[str]:
    """Trials with a complete or failed record: they never run again.

    The journal knows the state of nearly all of them. A manifest is read only if the journal does not: of an
    incomplete record, or after a crash between closing a record and writing the journal.
    """
    final = {
        entry.trial
        for entry in run.journal.events(TrialState)
        if entry.state == "closed" and entry.outcome != "incomplete"
    }
    return {
        trial
        for trial in closed_trials(run.records)
        if trial in final or read_manifest(run.records / trial).state != "incomplete"
    }


def _killed_steps(run: Run) -> list[StepStarted]:
    """Steps that started and did not end since the run was last opened: their processes were killed. The
    caller holds the step lock, so none of them is still running."""
    ended = _outcomes_since_opening(run)
    return [each for each in run.journal.since_opening(StepStarted) if each.index not in ended]


def _outcomes_since_opening(run: Run) -> dict[int, Outcome]:
    """Outcome of each step that ended since the run was last opened. Older outcomes belong to clusters that
    no longer exist."""
    return {ended.index: ended.outcome for ended in run.journal.since_opening(StepEnded)}
