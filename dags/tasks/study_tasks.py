"""The tasks of one study, from its YAML file to its report: thin, over dags/stages/study_stages.py.

`step` is one task, mapped over the plan's steps; each of its instances carries out the *next* step
of the plan, whichever slot Airflow hands out first. Airflow cannot nest mapping, mapped groups
interleave, and `dag.test` takes mapped instances in the order of a set: claiming keeps the plan's
seeded order in all of them, and with it at most one cluster.

This module makes no DAG: those that do (density_study.py, scheduled.py) are read one by one.
"""
# Airflow's decorators are not followed by mypy here (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import TriggerRule, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from dags.run_status.status import check_not_over
from dags.stages import study_stages
from dags.tasks.assets import RUN, TABLES
from dags.tasks.params import asked

OPENED_ROOT = "root"
"""Key under which `slots` keeps the run's folder, for as long as `slots` itself is not cleared."""
ROOT = (
    "{{ ti.xcom_pull(task_ids='open_run') "
    f"or ti.xcom_pull(task_ids='slots', key='{OPENED_ROOT}') }}}}"
)
"""The run's folder, for tasks that must not depend on the setup: Airflow allows a setup's direct
downstream no trigger rule but all_success. Clear may repeat them while `open_run` is repeated too."""
# `slots` succeeds whenever the run was opened, so this reads: whatever became of the steps, but
# only for a run that exists.
OPENED = TriggerRule.ALL_DONE_MIN_ONE_SUCCESS

OPERATING = """
**Mark failed** (or success) stops a run: what stands is torn down, and the run ends as failed. Trigger the
study again to go on with it.

**Clear** of the whole DAG run carries the study out again, in a new run unless this one was stopped. Clear of
`ingest`, `metrics`, `verdicts`, `series` or `report` analyses the same run again. Clear of a single step
measures nothing: no trial is repeated within its run. Trigger the study again for a new run.
"""
CLEARED = "the DAG run was cleared in Airflow"
MARKED = "the DAG run was marked failed or success in Airflow"


def study_tasks(compared: bool = False) -> None:
    """Open, build and measure in the plan's order, tear down, analyse, conclude; for a DAG being made.

    compared: hold the run against earlier ones too, in a task `regression` that fails where the study
    got slower. It stands apart from `conclude`: a regression is no fault of the run.
    """

    @task
    def open_run() -> str:
        """Check the input; write the plan and the journal. Nothing is built here, so nothing can be
        left behind by a set-up whose teardown Airflow would not run.

        Airflow clears this task with any other. It opens a run only if the plan's steps are cleared
        too; to clear less than that repeats the analysis of the same run, but none of its steps."""
        params, context = asked(), get_current_context()
        dag_run = f"{context['dag'].dag_id}/{context['run_id']}"
        earlier = _this().xcom_pull(task_ids="slots", key=OPENED_ROOT)
        if earlier and _state_of("slots") == "success":
            return str(earlier)
        if earlier:
            study_stages.stop(earlier, dag_run, CLEARED)
        return study_stages.open_or_load(params, dag_run)

    @task
    def slots(root: str) -> list[str]:
        """One slot for each step of the plan."""
        _this().xcom_push(OPENED_ROOT, root)
        return study_stages.slots(root)

    @task(
        max_active_tis_per_dagrun=1,
        map_index_template="{{ ran | default(task.op_kwargs['slot'], true) }}",
    )
    def step(root: str, slot: str) -> None:
        """The next step of the plan: a bring-up, a trial, or a tear-down. Never retried, and never
        carried out for a run that has ended or was stopped."""
        check_not_over(Path(root))
        ended = study_stages.step(root)
        get_current_context()["ran"] = ended.step.label if ended else f"nothing left ({slot})"
        if ended is None or ended.outcome == "skipped":
            raise AirflowSkipException(ended.message if ended else "no step of the plan is left")
        if ended.outcome == "failed":
            raise AirflowFailException(ended.message)

    @task
    def tear_down(root: str) -> None:
        """Whatever still stands goes, proved; a step that failed or was killed may have left it."""
        study_stages.tear_down(root)

    @task(trigger_rule=OPENED)
    def ingest(root: str) -> None:
        """Records to typed tables; failed trials too, so that the report shows them."""
        study_stages.analyse(root, "ingest")

    @task
    def metrics(root: str) -> None:
        """The numbers of every trial."""
        study_stages.analyse(root, "metrics")

    @task
    def verdicts(root: str) -> None:
        """A verdict for every trial."""
        study_stages.analyse(root, "verdicts")

    @task
    def series(root: str) -> None:
        """What happened within each trial; the numbers of each setting over its valid trials."""
        study_stages.analyse(root, "series")

    @task(outlets=[TABLES])
    def report(root: str, outlet_events: Any = None) -> None:
        """report/index.html and report/summary.json; tells `capacity_plan` that the tables are new."""
        study_stages.analyse(root, "report")
        if outlet_events is not None:
            outlet_events[TABLES].extra = {RUN: root}

    @task
    def regression(root: str) -> None:
        """Fails on a change for the worse beyond the study's tolerance; skipped while there is no
        earlier run to compare with."""
        if not study_stages.regression(root):
            raise AirflowSkipException("there is no earlier run to compare with")

    @task
    def conclude(root: str) -> None:
        """Fails when any step did or is left: a run with a failed trial is never called a success.

        A teardown too, for it must run when somebody marks the run failed: Airflow then skips what
        is no teardown, and would call the run a success once the cluster is down."""
        marked = _state_of("report") == "skipped"
        study_stages.conclude(root, MARKED if marked else "")

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
    """Of another task of this DAG run, not mapped; None if it waits for its turn."""
    ti = _this()
    states = ti.get_task_states(dag_id=ti.dag_id, task_ids=[task_id], run_ids=[ti.run_id])
    state: str | None = states.get(ti.run_id, {}).get(task_id)
    return state
