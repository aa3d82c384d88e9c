"""DAG `reap_clusters`: hourly, remove the leftovers of ended and killed runs and verify that they are gone.

It looks at the folder of the setting `runs`, and nowhere else. It skips live runs, runs with an owner that
neither this worker nor Airflow knows, runs that this worker's user has not opened, and everything that the
project did not create. `study reap` does the same by hand, for any folder. The receivers of a killed run's
study (its key `notify`) get a message.
"""
# mypy does not follow Airflow's decorators (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import logging

from airflow.sdk import Param, dag, get_current_context, task

from density_study.dags.airflow_home.home import runs_folder
from density_study.dags.notify.tell import tell_killed
from density_study.dags.tasks.ended_dag_runs import EndedDagRuns
from density_study.dags.tasks.own_process import own_process
from density_study.dags.tasks.params import bad_input_fails, checked_params
from density_study.dags.tasks.study_tasks import RETRIES, RETRY_DELAY

log = logging.getLogger(__name__)
PARAMS = {
    "dry_run": Param(
        False,
        type="boolean",
        title="Dry run",
        description="List what would be removed; remove nothing.",
    )
}


@dag(
    schedule="@hourly",
    params=PARAMS,
    max_active_runs=1,
    catchup=False,
    tags=["study", "clean-up"],
    doc_md=__doc__,
    default_args={"retries": RETRIES, "retry_delay": RETRY_DELAY, "pre_execute": own_process},
)
def reap_clusters() -> None:
    """One task. It fails if something could not be removed."""

    @task
    def reap() -> list[str]:
        """One line per run that was reaped (or would be) or skipped; usually empty."""
        from density_study.dags.stages import study_stages

        with bad_input_fails():
            params = checked_params()
        runs = runs_folder()
        swept = study_stages.reap(runs, params["dry_run"], EndedDagRuns())
        if not params["dry_run"]:
            tell_killed(runs, swept, get_current_context())
        lines = [str(run) for run in (*swept.abandoned, *swept.reaped, *swept.left_alone)]
        for line in lines if swept.failed else ():
            log.info("%s", line)
        swept.check()  # after the others
        return lines

    reap()


reap_hourly = reap_clusters()
