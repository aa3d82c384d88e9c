"""Executes single steps of a plan: a bring-up, a trial or a tear-down.

The caller chooses the step: `study run` and Airflow follow the plan's order. Whatever it chooses, a step that
is not due does nothing, a trial runs only on the intact cluster of its own build, and a bring-up first
removes whatever else of the run still stands: at most one cluster of a run exists at any time, or the two of
a duet. Two trials of a duet are one step, whichever of them is chosen; the other one has then ended as well.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from operator import attrgetter

from density_study.cluster.lifecycle.bring_up import Phases, bring_up
from density_study.cluster.lifecycle.join import join
from density_study.cluster.lifecycle.stand_up import stand_up
from density_study.cluster.lifecycle.tear_down import release_hosts, tear_down
from density_study.cluster.model.cluster import Cluster, read_cluster
from density_study.cluster.model.errors import HostLostError, StudyError, each_of
from density_study.cluster.model.topology import ExistingTopology, Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import provider_of, software_of
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state import lease
from density_study.cluster.state.atomic import naming
from density_study.cluster.state.events import COPIES, KeepAsked, StepEnded, TrialState
from density_study.cluster.state.file_fault import file_fault
from density_study.workloads.base.search import Ended, Probe
from density_study.workloads.base.values import TargetRate
from density_study.workloads.execution.acts import Acts, Outcome, began, ended
from density_study.workloads.execution.hooks import Moment, tell
from density_study.workloads.execution.native_check import disclose_native
from density_study.workloads.execution.run import Run, spared_trials
from density_study.workloads.execution.saturation import resolve
from density_study.workloads.execution.searching import prepared
from density_study.workloads.execution.trial import draft_manifest, run_duet, run_trial
from density_study.workloads.planning.duet import turns_of
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record, close_unfinished, is_closed, read_manifest
from density_study.workloads.ycsb.stores.ready import row_written_and_read

log = logging.getLogger(__name__)
KILLED = "its process was killed, or could not write, before the trial ended"
OS_REMEDY = "Remedy: correct this and run the same command again; it resumes from there."
"""Errors of the operating system (no space, no permission) name their path themselves."""


@dataclass(frozen=True)
class StepOutcome:
    """How a step ended. `message` explains to the user why it failed or was skipped. `beside`: how the trial
    ended that was measured at the same time."""

    step: Step
    outcome: Outcome
    message: str = ""
    beside: StepOutcome | None = None


def steps_left(run: Run) -> list[Step]:
    """The steps of every build with a trial that is due, in the plan's order, without its other trials."""
    due = _due(run, Acts.of(run.journal))
    trials = [step for step in run.plan.trials if step.trial in due]
    builds = {build for step in trials for build in (step.build, step.beside)}
    return [
        step
        for step in run.plan.steps
        if step.build in builds and (step.kind != "trial" or step.trial in due)
    ]


def what_is_left(run: Run) -> str:
    """A sentence about the work that remains; empty when the plan is complete.

    A trial that could not run, because its cluster did not come up or lost a host, is not left: its record
    says why it is incomplete.
    """
    acts = Acts.of(run.journal)
    due = _due(run, acts)
    left = [
        step.label
        for step in run.plan.trials
        if step.trial in due and (step.trial in acts.cleared or step.index not in acts.ended)
    ]
    killed = "".join(f"{started.label!r} did not finish; " for started in acts.open.values())
    if not left and not killed:
        return ""
    first = "" if killed or not left else f", starting with {left[0]!r}"
    return f"{killed}{len(left)} of {len(run.plan.trials)} trials are left{first}"


def in_use(run: Run) -> list[str]:
    """Builds whose cluster came up since the run was opened, and was not taken down yet."""
    acts = Acts.of(run.journal)
    return sorted(acts.ready & acts.standing)


def outcome_of(run: Run, step: Step) -> StepOutcome | None:
    """How the step ended since the run was opened; None if it has not ended."""
    ended = Acts.of(run.journal).ended.get(step.index)
    return StepOutcome(step, ended.outcome, ended.message) if ended else None


def carry_out(run: Run, step: Step) -> StepOutcome:
    """Execute one step, under the run's lock.

    Expected failures (a daemon dies, a client fails) become the step's outcome and are not raised. An
    interrupt is raised and leaves the step open. A step that is not due is skipped, and not journalled.
    """
    with run.step_lock():
        acts = Acts.of(run.journal)
        if idle := _not_due(run, acts, step):
            return idle
        began(run.journal, step)
        outcome = _hooked(run, acts, step)
        ended(run.journal, step, outcome.outcome, outcome.message)
        if other := outcome.beside:
            began(run.journal, other.step)
            ended(run.journal, other.step, other.outcome, other.message)
        if (step.kind, outcome.outcome) == ("up", "failed"):
            _record_trials_without_cluster(run, acts, outcome)
        return outcome


def close_run(run: Run) -> None:
    """Tear down everything of the run that still exists, whichever build fails, and verify that it is gone.

    Safe to repeat. If steps are left (the run was stopped), this releases the host. After the last step the
    run keeps the host until `end_run`, because its analysis must not disturb another study's measurements.
    StudyError names what could not be removed, and hosts that do not answer.
    """
    with run.step_lock():
        builds = (*run.plan.builds, COPIES)
        each_of(builds, lambda build: tear_down(run.site(build), run.journal))
        try:
            release_hosts(run.tag, run.journal)  # other machines, which the analysis does not use
        finally:
            if what_is_left(run):
                lease.release(run.tag)


def build_to_keep(run: Run, asked: KeepAsked, acts: Acts | None = None) -> str | None:
    """The build whose cluster is to stay: that of the first trial that failed, or the last one. None if
    no trial failed, or if it does not stand."""
    acts = acts or Acts.of(run.journal)
    if asked.when == "on-failure":
        failed = {index for index, ended in acts.ended.items() if ended.outcome == "failed"}
        builds = [step.build for step in run.plan.trials if step.index in failed][:1]
    else:
        due = _due(run, acts)
        steps = (s for s in run.plan.trials if s.trial in due or s.index in acts.ended)
        builds = [step.build for step in steps]
    return builds[-1] if builds and builds[-1] in acts.ready else None


def keep_asked(run: Run) -> KeepAsked | None:
    """What `study run --keep` requested when the run was opened."""
    return next(iter(run.journal.since_opening(KeepAsked)), None)


def _not_due(run: Run, acts: Acts, step: Step) -> StepOutcome | None:
    """Why there is nothing to do; None if the step is to be carried out."""
    asked = keep_asked(run)
    kept = build_to_keep(run, asked, acts) if asked else None
    if kept and kept in (step.build, step.beside) and step.kind == "down":
        return StepOutcome(step, "skipped", "its cluster is kept")
    if asked and kept and asked.when == "on-failure" and step.kind != "down":
        return StepOutcome(step, "skipped", f"a trial failed, and its cluster {kept} is kept")
    due = _due(run, acts)
    if step.kind == "trial":
        if step.trial not in due:
            if step.beside and (ended := acts.ended.get(step.index)):
                return StepOutcome(step, ended.outcome, ended.message)  # measured with its partner
            why = "it has its record or was not needed, and was not cleared"
            return StepOutcome(step, "skipped", why)
        if killed := acts.killed(step.build) or acts.killed(step.beside or ""):
            why = f"{killed.label!r} was killed, and its client may still load the cluster"
            return StepOutcome(step, "skipped", why)
    elif step.kind == "up":
        mine = (step.build, step.beside)
        if not any(each.build in mine and each.trial in due for each in run.plan.trials):
            why = "all trials of this build have their records, or were not needed"
            return StepOutcome(step, "skipped", why)
        if acts.is_ready(step.build) and not acts.killed(step.beside or ""):
            return StepOutcome(step, "ok", "it is up")
    elif step.build not in acts.standing:
        return StepOutcome(step, "skipped", "nothing of this build stands")
    return None


def _hooked(run: Run, acts: Acts, step: Step) -> StepOutcome:
    """Execute the step between its hooks. One that fails before a trial leaves it due; one that fails
    afterwards is told, and changes no outcome. A rehearsal has none."""
    topology = run.plan.topology_of(step.build)
    if isinstance(topology, Topology) and topology.provider.simulates:
        return _execute(run, acts, step)
    moments = [
        Moment("before", one.kind, run.study.study, run.id, one.build, one.trial or "")
        for one in (step, run.plan.partner(step))
        if one is not None
    ]
    try:
        for moment in moments:
            tell(moment)
    except StudyError as error:
        if step.kind == "trial":
            return _not_run(run, step, str(error))
        if step.kind == "up":
            return StepOutcome(step, "failed", str(error))
        log.warning("%s", error)  # what stands is removed in any case
    outcome = _execute(run, acts, step)
    try:
        for moment, one in zip(moments, (outcome, outcome.beside or outcome), strict=False):
            tell(replace(moment, when="after", outcome=one.outcome))
    except StudyError as error:
        log.warning("%s", error)
        told = "; ".join(filter(None, (outcome.message, str(error))))
        outcome = replace(outcome, message=told)
    return outcome


def _execute(run: Run, acts: Acts, step: Step) -> StepOutcome:
    try:
        with naming(run.root):
            if step.kind == "up":
                return _up(run, acts, step)
            if step.kind == "trial":
                return _trial(run, acts, step)
            return _down(run, step)
    except StudyError as error:
        return StepOutcome(step, "failed", str(error))
    except OSError as error:
        return StepOutcome(step, "failed", str(file_fault(error) or f"{error}. {OS_REMEDY}"))


def _up(run: Run, acts: Acts, step: Step) -> StepOutcome:
    is_killed = acts.killed(step.build) is not None  # a trial of both may have been
    spared = (
        {step.beside} if step.beside and acts.is_ready(step.beside) and not is_killed else set()
    )
    left = acts.standing - spared
    for build in {*left, step.build}:  # left by killed steps: only one cluster, or a duet, may run
        tear_down(run.site(build), run.journal)
    close_unfinished(run.records, KILLED)
    site = run.site(step.build)
    topology = run.plan.topology_of(step.build)

    def check(cluster: Cluster) -> None:
        row_written_and_read(cluster, run.journal)
        disclose_native(cluster, run.journal)

    try:
        if isinstance(topology, ExistingTopology):
            join(site, topology, run.journal, check)
        elif topology.provider.simulates:
            stand_up(site, topology, run.journal)
        else:
            machine = software_of(topology)
            stacks = ensure_stacks(topology.variant.versions, topology.store, machine)
            bring_up(site, topology, stacks, run.journal, final_check=check)
    except BaseException:
        try:
            Phases(site, run.journal).start("tear-down")
        finally:
            tear_down(site, run.journal)  # an incomplete cluster never stays, whatever stopped it
        raise
    return StepOutcome(step, "ok")


def _down(run: Run, step: Step) -> StepOutcome:
    tear_down(run.site(step.build), run.journal)
    close_unfinished(run.records, KILLED)
    return StepOutcome(step, "ok")


def _trial(run: Run, acts: Acts, step: Step) -> StepOutcome:
    for build in (step.build, step.beside):
        if build is None or acts.is_ready(build):
            continue
        up = next(each for each in run.plan.steps if (each.kind, each.build) == ("up", build))
        if (failed := acts.ended.get(up.index)) and failed.outcome == "failed":
            return StepOutcome(step, "skipped", _no_cluster(failed))  # its record says so already
        return _not_run(run, step, f"{build} does not stand")
    probe: Probe | None = None
    try:
        if step.probe is not None:
            found = prepared(run, step)
            if isinstance(found, Ended):
                return StepOutcome(step, "skipped", f"the search has ended: {found.why}")
            step, probe = found
        step, target = _with_target(run, step)
    except StudyError as error:  # the trial cannot begin: it is incomplete, not failed
        return _not_run(run, step, str(error))
    partner = run.plan.partner(step)
    topology = run.plan.topology_of(step.build)
    if partner is not None and not (isinstance(topology, Topology) and topology.provider.simulates):
        return _duet(run, step, partner)
    cluster, transport = _standing(run, step)
    lost = _lost(cluster, transport)
    if lost:
        return _not_run(run, step, lost)
    manifest = run_trial(run, step, cluster, transport, target, probe)
    return _outcome(step, manifest)


def _duet(run: Run, step: Step, partner: Step) -> StepOutcome:
    """Run the trial and the one that is measured at the same time."""
    both = [(one, *_standing(run, one)) for one in sorted((step, partner), key=attrgetter("index"))]
    for one, cluster, transport in both:
        if lost := _lost(cluster, transport):
            return _not_run(run, step, f"{one.build}: {lost}")
    turns = turns_of(run.plan, run.study, both[0][0], both[1][0])
    manifests = run_duet(run, [(*one, own) for one, own in zip(both, turns, strict=True)])
    outcomes = {
        one.index: _outcome(one, manifest)
        for (one, _, _), manifest in zip(both, manifests, strict=True)
    }
    return replace(outcomes[step.index], beside=outcomes[partner.index])


def _standing(run: Run, step: Step) -> tuple[Cluster, Transport]:
    cluster = _cluster(run, step.build)
    return cluster, provider_of(cluster.topology).transport(cluster.site, run.journal)


def _outcome(step: Step, manifest: Manifest) -> StepOutcome:
    if manifest.state == "complete":
        return StepOutcome(step, "ok", manifest.probe.verdict if manifest.probe else "")
    return StepOutcome(step, "failed", "; ".join(manifest.reasons))


def _record_trials_without_cluster(run: Run, acts: Acts, up: StepOutcome) -> None:
    """Not left to the trials' own steps: Airflow does not start those of a build that did not come up."""
    due = _due(run, acts)
    try:
        for step in run.plan.trials:
            if step.build in (up.step.build, up.step.beside) and step.trial in due:
                _not_run(run, step, _no_cluster(up))
    except OSError as error:  # as on a full disk, which is then also why the bring-up failed
        log.warning("The trials of %s have no records: %s", up.step.build, error)


def _no_cluster(up: StepOutcome | StepEnded) -> str:
    """Why no trial of the build could run. The remedy and the daemon's log belong to the bring-up."""
    return f"its cluster did not come up: {up.message.partition(' Remedy: ')[0]}"


def _with_target(run: Run, step: Step) -> tuple[Step, TargetRate | None]:
    """The step with a relative target resolved by what was measured on its build. Journals the rate."""
    test_case = step.test_case
    if test_case is None or test_case.target_share is None:
        return step, None
    resolved, target = resolve(
        test_case, run.plan.measuring_for(test_case, step.build), run.records
    )
    run.journal.write("target-resolved", trial=step.trial, **target.model_dump())
    return step.model_copy(update={"test_case": resolved}), target


def _lost(cluster: Cluster, transport: Transport) -> str:
    """Which node or daemon the cluster has lost; empty if it is intact. Trials need the whole cluster."""
    try:
        dead = transport.dead(cluster.processes)
    except HostLostError as error:
        return f"a node is lost: {error}"
    names = ", ".join(f"{process.name} on {process.node}" for process in dead)
    return f"the cluster is not intact: {names} died before the trial" if names else ""


def _not_run(run: Run, step: Step, reason: str) -> StepOutcome:
    """Close an incomplete record for a trial that could not begin, so that the report shows it. An earlier
    attempt with a result keeps its place: nothing newer was measured."""
    if step.trial not in _final(run):
        draft = draft_manifest(run, step)
        Record.open(run.records, draft).close(draft.model_copy(update={"reasons": (reason,)}))
    return StepOutcome(step, "skipped", reason)


def _cluster(run: Run, build: str) -> Cluster:
    return read_cluster(run.site(build).root)


def _due(run: Run, acts: Acts) -> set[str]:
    """Trials still to be measured: without a final record, or cleared."""
    due = {str(step.trial) for step in run.plan.trials} - _final(run) | acts.cleared
    partners = (run.plan.partner(step) for step in run.plan.trials if step.trial in due)
    return due | {str(partner.trial) for partner in partners if partner}


def _final(run: Run) -> set[str]:
    """Trials with a complete or failed record, and those that the run did not need.

    The journal knows the state of nearly all of them. A manifest is read only if the journal does not, as for
    an incomplete record, or after a crash between closing a record and writing the journal.
    """
    last = {entry.trial: entry for entry in run.journal.events(TrialState)}
    final = {
        trial
        for trial, entry in last.items()
        if entry.state == "closed" and entry.outcome != "incomplete"
    }
    # one listing for all: a look at each record would make each step of a long study slower than the last
    names = {path.name for path in run.records.iterdir()} if run.records.is_dir() else set()
    unsure = (name for name in names - final if is_closed(run.records / name))
    ended = {name for name in unsure if read_manifest(run.records / name).state != "incomplete"}
    recorded = names & final | ended
    return recorded | spared_trials(run.journal)
