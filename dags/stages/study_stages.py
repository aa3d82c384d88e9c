"""The work of the tasks of a study, as plain functions of a run's folder. Does not import Airflow.

The clean-up of `study run` calls the same functions, so that every run ends in the same way.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from density_study.cluster.lifecycle.abandoned import sweep_abandoned
from density_study.cluster.lifecycle.lost_run import sweep_lost_run
from density_study.cluster.lifecycle.reap import Failed, LeftAlone, Reaped, Swept
from density_study.cluster.lifecycle.reap import reap as reap_clusters
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.atomic import naming
from density_study.cluster.state.events import RunOpened, TornDown
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.own_runs import keep_others_out
from density_study.cluster.state.owner import here
from density_study.cluster.state.presence import present
from density_study.dags.airflow_home.home import ONE_PROCESS, base_folder, runs_folder
from density_study.dags.stages.comparison import (
    compare_run,
    comparison_lines,
    format_change,
    how_to_acknowledge,
)
from density_study.dags.stages.precision import look
from density_study.workloads.execution import steps
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.execution.steps import StepOutcome, close_run
from density_study.workloads.planning.plan import Step, StepKind
from density_study.workloads.record.record import OPEN, close_unfinished, is_closed

log = logging.getLogger(__name__)


def carry_out(root: str, kind: StepKind, name: str) -> StepOutcome:
    """Execute a step of the run: `up` or `down` of the build `name`, or the `trial` of that name."""
    keep_others_out()
    run = load_run(Path(root))
    _check_machine(run)
    with present(run.root):
        step = _step(run, kind, name)
        if kind == "up":
            look(run, step)
        if ONE_PROCESS in os.environ and step == run.plan.steps[-1]:
            _prepare_analysis()  # nothing is measured any more
        if ONE_PROCESS in os.environ and kind == "up":
            with _imports_meanwhile():
                return _carry_out(run, step)
        return _in_process(run, step) if _in_order(kind) else _carry_out(run, step)


@contextmanager
def _imports_meanwhile() -> Iterator[None]:
    """Import the libraries of the analysis while the daemons start; done before anything is measured."""

    def imports() -> None:
        from density_study.jobs import pipeline

        pipeline.import_libraries()

    thread = Thread(target=imports)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _carry_out(run: Run, step: Step) -> StepOutcome:
    outcome = steps.carry_out(run, step)
    log.info("%s: %s %s", step.label, outcome.outcome, outcome.message)
    if step.trial and outcome.outcome != "skipped":
        _log_first_look(run.records / step.trial)
    return outcome


def _check_machine(run: Run) -> None:
    """StudyError if the run's cluster is on another machine: a team's Airflow has several workers."""
    opened = run.journal.last(RunOpened)
    owner = opened.owner if opened else None
    is_here = any(topology.provider.here for topology in run.plan.built)
    if is_here and owner and owner.place.host != here().host:
        raise StudyError(
            f"the run was opened on {owner.place.host!r}, and with provider {run.study.provider} its cluster "
            f"is there. This task runs on {here().host!r}.",
            str(run.root),
            "give the study the key queue, with the name of a Celery queue that only one worker serves.",
        )


def _step(run: Run, kind: StepKind, name: str) -> Step:
    for step in run.plan.steps:
        if step.kind == kind and name == (step.trial if kind == "trial" else step.build):
            return step
    raise StudyError(
        f"its plan has no step {kind} {name!r}.",
        str(run.root),
        "the study file has changed since the run was opened: trigger the study again.",
    )


def _in_order(kind: StepKind) -> bool:
    """Whether this task also executes the earlier trials of its build: `dag.test`, of `study run`, starts the
    trials of a build in any order. Airflow's scheduler starts them in the order of their priorities."""
    return kind == "trial" and ONE_PROCESS in os.environ


def _in_process(run: Run, step: Step) -> StepOutcome:
    """Execute the build's trials in the plan's order, up to this one, unless an earlier task did."""
    for each in run.plan.trials:
        if each.build in (step.build, step.beside) and each.index <= step.index:
            outcome = steps.outcome_of(run, each) or _carry_out(run, each)
    return outcome


def builds_in_use(root: str, build: str) -> list[str]:
    """Other builds of the run whose cluster came up and was not taken down yet, without the one that is up
    beside `build`."""
    run = load_run(Path(root))
    mine = {build, _step(run, "up", build).beside}
    return [other for other in steps.in_use(run) if other not in mine]


def _log_first_look(record: Path) -> None:
    if not is_closed(record):  # a bring-up or a tear-down
        return
    from density_study.jobs.first_look.look import first_look

    seen = first_look(record)
    log.info("Record %s: %s", record, ", ".join((seen.outcome, *seen.numbers)))
    for reason in (*seen.reasons, *seen.flags):
        log.info("%s: %s", record.name, reason)


def tear_down(root: str, reason: str = "the run was stopped before the trial ended") -> None:
    """Remove the run's cluster and verify that it is gone; StudyError if that is not proved.

    An open record is closed as `incomplete`, with `reason`.
    """
    run = load_run(Path(root))
    try:
        _check_machine(run)
        with present(run.root):
            close_run(run)
    except StudyError as error:
        run.journal.record(TornDown(outcome="failed", message=str(error)))
        raise
    finally:
        for trial in close_unfinished(run.records, reason):
            log.info("Closed record %s as incomplete: %s", trial, reason)
    run.journal.record(TornDown(outcome="ok", message=""))
    log.info("Tear-down verified: run %s has no process and no data left", run.root)


def reap(runs: Path, dry_run: bool, dead: Container[str] = ()) -> Swept:
    """Remove the leftovers of this user's ended and killed runs below `runs` and verify that they are gone;
    also what killed processes left in folders for temporary files.

    Their open records are closed as `incomplete`. A run whose folder is gone no longer holds this machine,
    wherever its folder was. `dead`: names of owners that are known to be dead. The result names the runs that
    could not be reaped.
    """
    # First: no fault of another run may keep the machine blocked.
    lost = sweep_lost_run(dry_run, dead)
    abandoned = sweep_abandoned(runs, dry_run)
    with naming(runs):
        swept = replace(reap_clusters(runs, dry_run, _close_records, dead), abandoned=abandoned)
    match lost:
        case Reaped():
            return replace(swept, reaped=(lost, *swept.reaped))
        case LeftAlone():
            return replace(swept, left_alone=(lost, *swept.left_alone))
        case Failed():
            return replace(swept, failed=(lost, *swept.failed))
    return swept


def _close_records(root: Path, dry_run: bool) -> tuple[str, ...]:
    records = root / "records"
    trials = (
        [path.name.removesuffix(OPEN) for path in sorted(records.glob("*" + OPEN))]
        if dry_run
        else close_unfinished(records, "the run was killed before the trial ended")
    )
    return tuple(f"open record {trial} (closed as incomplete)" for trial in trials)


def analyse(root: str, stage: str) -> None:
    """Run one stage of the analysis; `jobs.pipeline` describes the stages."""
    from density_study.jobs import pipeline

    if ONE_PROCESS in os.environ:
        _prepare_analysis()
    with present(Path(root)):
        pipeline.run_stage(stage, Path(root))


def _prepare_analysis() -> None:
    """For a process that also executes the analysis. With a process per task, only the stages that need
    Spark start it."""
    from density_study.jobs import pipeline

    pipeline.prepare()


def runs_to_plan(params: Mapping[str, Any], triggering: Sequence[str | None]) -> list[str]:
    """Folders of the runs to size a cluster from, without duplicates. InputError if there is none, or for one
    outside the folder of runs: who triggers a DAG, or an asset's event, must not choose where it writes."""
    named = [params["run"]] if params.get("run") else [run for run in triggering if run]
    if not named:
        raise InputError(
            "no run is named, and no run triggered this DAG run.",
            "capacity_plan",
            "set the parameter `run` to the folder of a run.",
        )
    roots = dict.fromkeys(absolute(run) for run in named)
    known = set(run_folders(runs_folder()))
    for root in roots:
        if root not in known:
            raise InputError(
                "this is not a run in the folder of runs.",
                str(root),
                f"name one below {runs_folder()}.",
            )
    return list(map(str, roots))


def plan_capacity(root: str, params: Mapping[str, Any]) -> str:
    """Write report/capacity-plan.json and its page, and the report and the hub again. Returns the path of the
    plan."""
    from density_study.analysis.capacity.inputs.question import parse_promises, question
    from density_study.analysis.capacity.plan.plan import PAGE, PLAN, Plan
    from density_study.analysis.capacity.sizing.run_plan import plan_run
    from density_study.analysis.hub.page import rebuild
    from density_study.analysis.report.plan_page.page import write_plan_page
    from density_study.jobs import pipeline

    if not params["hosts"]:
        raise InputError(
            "no host catalogue is named.",
            "capacity_plan",
            "set the parameter `hosts` or the setting `catalogue` to a file of host types with prices.",
        )
    wanted = question(float(params["genomes_per_day"]), parse_promises(params["slo"]))
    found = plan_run(Path(root), wanted, params["profile"], absolute(params["hosts"]))
    if isinstance(found, Plan):
        log.info("Plan: %d hosts of type %s", found.hosts, found.host_type)
    else:
        log.info("No plan fits: %s", "; ".join(found.reasons))
    write_plan_page(found, Path(root) / "report" / PAGE)
    pipeline.run_stage("report", Path(root))
    rebuild(Path(root).parents[1])
    return str(Path(root) / "report" / PLAN)


def regression(root: str) -> str:
    """Compare the run with earlier ones, as configured in its study, and write report/comparison.json.

    Returns the answer; empty without `compare` in the study, or without an earlier run. StudyError for
    a regression beyond the study's tolerance.
    """
    run = load_run(Path(root))
    compared = compare_run(run)
    if compared is None:
        return ""
    log.info("%s", "\n".join(comparison_lines(compared, run.root)))
    if compared.regressions:
        raise StudyError(
            f"{compared.headline} {'; '.join(format_change(c) for c in compared.regressions)}.",
            str(run.root),
            "check the candidate causes: "
            + ("; ".join(compared.candidate_causes) or "the records show none")
            + f"; {how_to_acknowledge(run.root)}.",
        )
    return compared.headline


def absolute(path: str) -> Path:
    """Resolve a relative path in the base folder, because a scheduler may run in any folder."""
    return base_folder() / path
