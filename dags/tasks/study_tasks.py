"""The tasks of one study, from its YAML file to its report. Thin; see dags/stages/study_stages.py.

`step` is one task, mapped over the plan's steps. Each instance executes the *next* step of the plan,
whichever slot Airflow starts first. Assigning a fixed step to each slot would not work: Airflow cannot
nest mapping, mapped task groups interleave, and `dag.test` executes mapped instances in the order of a
set. Claiming the next step keeps the plan's seeded order, and never has more than one cluster running.

This module defines no DAG; density_study.py and scheduled.py do.
"""
# mypy does not follow Airflow's decorators (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import Asset, TriggerRule, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from dags.notify.tell import could_not_open, tell
from dags.run_status.status import check_not_over
from dags.stages import study_stages
from dags.tasks.params import checked_params

TABLES = Asset(name="density_study_tables", uri="density-study://tables")
"""The tables and the report of a run: updated by `report`, and what triggers `capacity_plan`."""
RUN = "run"
"""Key in the asset event's extra: the folder of the analysed run."""
OPENED_ROOT = "root"
"""XCom key under which `slots` stores the run's folder. It is lost only if `slots` itself is cleared."""
ROOT = (
    "{{ ti.xcom_pull(task_ids='open_run') "
    f"or ti.xcom_pull(task_ids='slots', key='{OPENED_ROOT}') }}}}"
)
"""The run's folder, for tasks that must not depend directly on the setup: Airflow allows only the trigger
rule all_success there. After Clear they may be repeated together with `open_run`."""
# `slots` succeeds whenever the run was opened. So this rule means: whatever the steps' outcome, but
# only for a run that was opened.
OPENED = TriggerRule.ALL_DONE_MIN_ONE_SUCCESS

OPERATING = """
**Mark failed** (or success) stops a run: its cluster is torn down and the run ends as failed. Trigger the
study again to resume it.

**Clear** of the whole DAG run executes the study again: it resumes a stopped run, else it starts a new one.
Clear of `ingest`, `metrics`, `verdicts`, `series` or `report` repeats the analysis of the same run. Clear of
a single step measures nothing, because no trial is repeated within its run. Trigger the study again for a
new run.
"""
CLEARED = "the DAG run was cleared in Airflow"
MARKED = "the DAG run was marked failed or success in Airflow"


def study_tasks(compared: bool = False) -> None:
    """Define the tasks, inside a DAG: open, build and measure, tear down, analyse, conclude.

    compared: also compare the run with earlier ones, in a task `regression` that fails if the cluster got
    slower. It is not upstream of `conclude`, because a regression is not a failure of the run.
    """

    @task(on_failure_callback=could_not_open)
    def open_run() -> str:
        """Check the input; write the plan and the journal. Builds nothing, because Airflow does not
        run the teardown of a setup that failed.

        Airflow clears this task together with any other task. It opens a new run only if the steps
        are cleared too; otherwise it returns the same run, to repeat the analysis."""
        params, context = checked_params(), get_current_context()
        dag_run = f"{context['dag'].dag_id}/{context['run_id']}"
        earlier = _this().xcom_pull(task_ids="slots", key=OPENED_ROOT)
        if earlier and _state_of("slots") == "success":
            return str(earlier)
        if earlier:
            study_stages.stop(earlier, dag_run, CLEARED)
        return study_stages.open_or_load(params, dag_run)

    @task
    def slots(root: str) -> list[str]:
        """One slot per remaining step of the plan."""
        _this().xcom_push(OPENED_ROOT, root)
        return study_stages.slots(root)

    @task(
        max_active_tis_per_dagrun=1,
        map_index_template="{{ ran | default(task.op_kwargs['slot'], true) }}",
    )
    def step(root: str, slot: str) -> None:
        """Execute the next step of the plan: a bring-up, a trial, or a tear-down. Never retried, and
        never executed for a run that has ended or was stopped."""
        check_not_over(Path(root))
        ended = study_stages.step(root)
        get_current_context()["ran"] = ended.step.label if ended else f"no step left ({slot})"
        if ended is None or ended.outcome == "skipped":
            raise AirflowSkipException(ended.message if ended else "The plan has no step left.")
        if ended.outcome == "failed":
            raise AirflowFailException(ended.message)

    @task
    def tear_down(root: str) -> None:
        """Remove what a failed or killed step may have left running, and verify that it is gone."""
        study_stages.tear_down(root)

    @task(trigger_rule=OPENED)
    def ingest(root: str) -> None:
        """Convert the records to typed tables, failed trials included, so that the report shows them."""
        study_stages.analyse(root, "ingest")

    @task
    def metrics(root: str) -> None:
        """Compute the metrics of every trial."""
        study_stages.analyse(root, "metrics")

    @task
    def verdicts(root: str) -> None:
        """Decide whether each trial is valid."""
        study_stages.analyse(root, "verdicts")

    @task
    def series(root: str) -> None:
        """Compute time series within each trial, and the metrics of each setting over its valid trials."""
        study_stages.analyse(root, "series")

    @task(outlets=[TABLES])
    def report(root: str, outlet_events: Any = None) -> None:
        """Write report/index.html and report/summary.json, and trigger `capacity_plan`."""
        study_stages.analyse(root, "report")
        if outlet_events is not None:
            outlet_events[TABLES].extra = {RUN: root}

    @task
    def regression(root: str) -> None:
        """Fail on a regression beyond the study's tolerance; skipped without an earlier run."""
        if not study_stages.regression(root):
            raise AirflowSkipException("There is no earlier run to compare with.")

    @task
    def conclude(root: str) -> None:
        """Fail if any step failed or is left: a run with a failed trial is not a success.

        This is a teardown too, so that it runs when a user marks the run failed. Airflow then skips all
        other tasks, and would otherwise call the run a success once the cluster is down."""
        marked = _state_of("report") == "skipped"
        try:
            study_stages.conclude(root, MARKED if marked else "")
        finally:
            tell(root, context=get_current_context())

    root = open_run()
    slot = slots(root)
    torn_down = tear_down(root).as_teardown(setups=root, on_failure_fail_dagrun=True)
    concluded = conclude(root).as_teardown(setups=root, on_failure_fail_dagrun=True)
    torn_down >> concluded
    tables = ingest(ROOT)
    step.partial(root=root).expand(slot=slot) >> torn_down >> tables
    reported = report(ROOT)
    tables >> metrics(ROOT) >> verdicts(ROOT) >> series(ROOT) >> reported >> concluded
    slot >> tables
    if compared:
        reported >> regression(ROOT)


def _this() -> Any:
    return get_current_context()["ti"]


def _state_of(task_id: str) -> str | None:
    """State of another, unmapped task of this DAG run; None if it has not been scheduled yet."""
    ti = _this()
    states = ti.get_task_states(dag_id=ti.dag_id, task_ids=[task_id], run_ids=[ti.run_id])
    state: str | None = states.get(ti.run_id, {}).get(task_id)
    return state
