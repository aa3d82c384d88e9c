"""The tasks of a study's DAG. Thin; see dags/stages/. dags/graph/study_dag.py puts them in order.

The modules behind a task are imported when it runs: Airflow parses the DAG files every minute.
"""
# mypy does not follow Airflow's decorators (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, PokeReturnValue, TriggerRule, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from density_study.cluster.state.file_fault import as_study_errors
from density_study.dags.notify.tell import could_not_open, telling
from density_study.dags.stages.task_names import ANALYSIS, DOWN, FINISHED, OPEN, UP, build_group
from density_study.dags.tasks.ended_dag_runs import EndedDagRuns
from density_study.dags.tasks.params import checked_params

if TYPE_CHECKING:
    from density_study.workloads.execution.steps import StepOutcome

TABLES = Asset(name="density_study_tables", uri="density-study://tables")
"""The tables and the report of a run: updated by `report`, and what triggers `capacity_plan`."""
RUN = "run"
"""Key in the asset event's extra: the folder of the analysed run."""
ROOT = f"{{{{ ti.xcom_pull(task_ids='{OPEN}') }}}}"
"""The run's folder. A template, because an argument would make each task depend on `open` directly; Airflow
allows only the trigger rule all_success behind a setup."""
MARKED = "the DAG run was marked failed or success in Airflow"
LOOK_FOR_HOST_EVERY_S = 300.0
"""Looking takes seconds of CPU time from the study that uses the host."""
LOOK_FOR_TURN_EVERY_S = 30.0
WAIT_FOR_HOST_S = 60 * 24 * 3600.0
"""Longer than the longest study takes."""
RETRIES = 2
"""How often a task that measures nothing is tried again."""
RETRY_DELAY = timedelta(seconds=30)


@task.sensor(
    task_id=OPEN, mode="reschedule", timeout=WAIT_FOR_HOST_S, on_failure_callback=could_not_open
)
@as_study_errors()
def open_run(spec: str, runs: str, steps: str, run: str = "") -> PokeReturnValue:
    """Check the study and its hosts, write the plan and the journal, and take the hosts for the run.

    Builds nothing. A study with `when_busy: queue` waits here for a busy host, without a worker. After Clear,
    the same run is opened again."""
    from density_study.dags.stages.opening import DagRunRequest, load, opened

    params, context = checked_params(), get_current_context()
    ti = context["ti"]
    if run:  # of `study run`, which opened it
        return PokeReturnValue(True, load(run))
    states = _states() if ti.try_number > 1 else None
    dag_run = f"{context['dag'].dag_id}/{context['run_id']}"
    asked = DagRunRequest(spec, runs, params["fresh"], steps, dag_run, states, EndedDagRuns())
    root = opened(asked)
    return PokeReturnValue(root is not None, root)


@task.sensor(task_id=UP, mode="reschedule")
@as_study_errors()
def up(root: str, build: str) -> bool:
    """Start the cluster of this build, and wait until a row can be written and read.

    Skipped if all trials of the build have their records. After Clear of trials of several builds, the
    clusters run in sequence: this task waits, without a worker, until the other one is down."""
    from density_study.dags.run_status.status import check_not_over
    from density_study.dags.stages import study_stages

    for other in study_stages.builds_in_use(root, build):
        other_down = f"{build_group(other)}.{DOWN}"
        if _states().get(other_down, "removed") not in FINISHED:
            return False
    check_not_over(Path(root))
    _report(study_stages.carry_out(root, "up", build))
    return True


@task
@as_study_errors()
def trial(root: str, trial: str) -> None:
    """One trial: prepare, measure, and close its record. Never retried.

    Skipped if it has a record and was not cleared, and if its cluster does not stand."""
    from density_study.dags.run_status.status import check_not_over
    from density_study.dags.stages import study_stages

    check_not_over(Path(root))
    _report(study_stages.carry_out(root, "trial", trial))


@task(task_id=DOWN)
@as_study_errors()
def down(root: str, build: str) -> None:
    """Take the cluster of this build down, and verify that it is gone."""
    from density_study.dags.stages import study_stages

    outcome = study_stages.carry_out(root, "down", build)
    if outcome.outcome == "failed":
        raise AirflowFailException(outcome.message)


@task(trigger_rule=TriggerRule.ALL_DONE, retries=RETRIES, retry_delay=RETRY_DELAY)
@as_study_errors()
def ingest(root: str) -> None:
    """Convert the records to typed tables, failed trials included, so that the report shows them."""
    _analyse(root, "ingest")


@task(retries=RETRIES, retry_delay=RETRY_DELAY)
@as_study_errors()
def metrics(root: str) -> None:
    """Compute the metrics of every trial."""
    _analyse(root, "metrics")


@task(retries=RETRIES, retry_delay=RETRY_DELAY)
@as_study_errors()
def verdicts(root: str) -> None:
    """Decide whether each trial is valid."""
    _analyse(root, "verdicts")


@task(retries=RETRIES, retry_delay=RETRY_DELAY)
@as_study_errors()
def series(root: str) -> None:
    """Compute time series within each trial, and the metrics of each test case over its valid trials."""
    _analyse(root, "series")


@task(outlets=[TABLES], retries=RETRIES, retry_delay=RETRY_DELAY)
@as_study_errors()
def report(root: str, outlet_events: Any = None) -> None:
    """Write report/index.html and report/summary.json, and trigger `capacity_plan`."""
    _analyse(root, "report")
    if outlet_events is not None:
        outlet_events[TABLES].extra = {RUN: root}


@task
@as_study_errors()
def regression(root: str) -> None:
    """Fail on a regression beyond the study's tolerance; skipped without an earlier run.

    `conclude` does not depend on it, because a regression is not a failure of the run."""
    from density_study.dags.stages import study_stages

    if not study_stages.regression(root):
        raise AirflowSkipException("There is no earlier run to compare with.")


@task
@as_study_errors()
def conclude(root: str) -> None:
    """End the run: verify that nothing of it stands, release its hosts, and fail if a step failed or is left.

    A teardown task, which also runs when a person marks the DAG run failed or success. After Clear of a trial
    without its downstream tasks, it analyses the run again."""
    from density_study.dags.stages import conclusion

    marked = _states().get(f"{ANALYSIS}.report") == "skipped"
    with telling(root, get_current_context()):
        conclusion.conclude(root, MARKED if marked else "")


STAGES = (ingest, metrics, verdicts, series, report)


def _report(outcome: StepOutcome) -> None:
    """Name a mapped instance after its step, and fail or skip like the step."""
    get_current_context()["step"] = outcome.step.label
    if outcome.outcome == "skipped":
        raise AirflowSkipException(outcome.message)
    if outcome.outcome == "failed":
        raise AirflowFailException(outcome.message)


def _analyse(root: str, stage: str) -> None:
    from density_study.dags.stages import study_stages

    study_stages.analyse(root, stage)


def _states() -> dict[str, str | None]:
    """States of this DAG run's tasks; of an instance of a mapped task under `<id>_<map index>`."""
    ti: Any = get_current_context()["ti"]
    states = ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id])
    found: dict[str, str | None] = states.get(ti.run_id, {})
    return found
