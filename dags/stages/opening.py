"""Open a run for an Airflow DAG run, or open it again after Clear. Does not import Airflow."""

from __future__ import annotations

import logging
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.lifecycle.lost_run import sweep_lost_run
from density_study.cluster.model.errors import HostBusyError, InputError
from density_study.cluster.state import lease, presence
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.own_runs import is_registered
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_state import run_state
from density_study.dags.airflow_home.home import SCHEDULER_PID
from density_study.dags.stages.conclusion import is_concluded, stop
from density_study.dags.stages.outline import steps_of
from density_study.dags.stages.study_stages import absolute, reap
from density_study.dags.stages.task_names import ANALYSIS, FINISHED, cleared_trials, pending_trials
from density_study.workloads.execution.opening import RunRequest, clear_trials, open_run, reopen_run
from density_study.workloads.execution.run import Run, load_run, run_of
from density_study.workloads.planning.plan import ANEW, Plan
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import read_study

log = logging.getLogger(__name__)
CLEARED = "the DAG run was cleared in Airflow"


@dataclass(frozen=True)
class DagRunRequest:
    """What a DAG run asks for. `spec` and `runs` may be relative to the project's folder. `steps`: digest of
    the DAG's builds and trials. `dag_run`: "<DAG>/<run id>". `states`: see `pending_trials`; None if the
    task runs for the first time, so that nothing was cleared. `ended`: DAG runs that Airflow knows to be
    over."""

    spec: str
    runs: str
    fresh: bool
    steps: str
    dag_run: str
    states: Mapping[str, str | None] | None = None
    ended: Container[str] = ()


def opened(asked: DagRunRequest) -> str | None:
    """Folder of the run, open for the DAG run; None while another study uses the host and this one queues.

    Clear of the whole DAG run resumes an unfinished run, or begins a new one. Clear of trials opens the same
    run again, to measure them again. Clear of only the analysis needs no cluster and no host.
    """
    spec, runs = absolute(asked.spec), absolute(asked.runs)
    file = read_study(spec)
    study = file.study
    for warning in file.warnings:  # the next version refuses what has another name now
        log.warning("%s", warning)
    if study.fit_s:
        raise InputError(
            "its tasks are not known: with the key `budget` and no `repetitions`, its test cases are chosen "
            "when it runs.",
            f"study {study.study!r}, key budget",
            f"write the study that fits, and give Airflow that file: study plan {asked.spec} -o fitted.yaml.",
        )
    owner = airflow_owner(asked.dag_run)
    _reap_lost(runs, study.study, asked.ended)
    try:
        run = run_of(asked.dag_run, runs, study.study) if asked.states is not None else None
        if run is None or not _opened_again(run, owner, asked):
            run = _open(asked, spec, runs, owner)
    except HostBusyError as error:
        if study.when_busy == "refuse":
            raise
        log.info("%s", error)
        return None
    log.info("Run %s: %d steps, about %.0f s", run.root, len(run.plan.steps), run.plan.estimate_s)
    return str(run.root)


def _reap_lost(runs: Path, study: str, ended: Container[str]) -> None:
    """Take down what an ended DAG run left, if its run or its lease of this machine is in the way. The worker
    of its task `conclude` was killed: the journal has no end, and nothing else tells from here."""
    if lost := sweep_lost_run(False, ended):
        log.warning("%s", lost)
    held = lease.holder()
    roots = [*run_folders(runs, study)[-1:], *([held.root] if held else [])]
    for root in filter(is_registered, roots):
        found = run_state(root, presence.is_free(root))
        if found and found.state == "unknown" and found.owner_name in ended:
            log.warning("DAG run %s is over, but its run was not ended", found.owner_name)
            swept = reap(root.parents[1], dry_run=False, dead=(found.owner_name,))
            for failed in swept.failed:  # if it is in the way, opening the run will say so
                log.warning("%s", failed)


def _opened_again(run: Run, owner: Owner, asked: DagRunRequest) -> bool:
    """Whether the run is open for what was cleared; False if that is the whole DAG run."""
    states = asked.states or {}
    pending = frozenset(pending_trials(run.plan, states))
    analysis = any(
        state not in FINISHED for task, state in states.items() if task.startswith(f"{ANALYSIS}.")
    )
    if analysis and len(pending) == len(run.plan.trials):
        stop(run, owner, CLEARED)
        return False
    cleared = cleared_trials(run.plan, pending, analysis)
    log.info("Cleared trials: %s", ", ".join(cleared) or "none")
    if cleared and is_concluded(run):
        reopen_run(run, owner, asked.dag_run, cleared)
    else:
        clear_trials(run, cleared)
    return True


def _open(asked: DagRunRequest, spec: Path, runs: Path, owner: Owner) -> Run:
    # the statistics take a second to import
    from density_study.dags.stages.earlier import Earlier
    from density_study.dags.stages.planning import check_plan

    return open_run(
        spec,
        runs,
        request=RunRequest(fresh=asked.fresh),
        owner=owner,
        dag_run=asked.dag_run,
        check=lambda study, plan: check_plan(study, plan, spec, Earlier(study, runs)),
        fits=lambda study, plan: check_fits(study, plan, asked.steps),
        wait=False,
    )


def check_fits(study: Study, plan: Plan, steps: str) -> None:
    """InputError if the plan has other builds or trials than the DAG."""
    if steps_of(plan) == steps:
        return
    raise InputError(
        "the run's plan has other builds or trials than this DAG.",
        f"study {study.study!r}",
        "if a disk has `disk_type: auto`, write its disk type; if the study file was just edited, wait until "
        "Airflow has read it; if `study run` extended the unfinished run, or an earlier version began it, "
        f"finish it with `study run`, or {ANEW}.",
    )


def load(root: str) -> str:
    """Folder of a run that is open already."""
    return str(load_run(Path(root)).root)


def airflow_owner(dag_run: str) -> Owner:
    """Owner that outlives the tasks of a DAG run: the scheduler started by `make airflow`, which sets
    STUDY_SCHEDULER_PID for its children; with any other Airflow, the DAG run itself."""
    scheduler = os.environ.get(SCHEDULER_PID)
    return Owner.of_process(int(scheduler)) if scheduler else Owner.of_dag_run(dag_run)
