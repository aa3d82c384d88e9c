"""DAG `reap_clusters`: every hour, what ended or killed runs left behind is removed and proved gone.

It leaves alone live runs, runs whose owner cannot be judged from this worker, and everything that is
not ours. `study reap` does the same by hand.
"""
# Airflow's decorators are not followed by mypy here (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from airflow.sdk import Param, dag, task

from dags.airflow_home.home import project_root
from dags.stages import study_stages
from dags.tasks.params import asked

PARAMS = {
    "runs": Param(
        "runs",
        type="string",
        minLength=1,
        title="Runs folder",
        description="Where runs are kept: absolute, or relative to the project's folder.",
    ),
    "dry_run": Param(
        False,
        type="boolean",
        title="Look only",
        description="Say what would be removed; remove nothing.",
    ),
}


@dag(
    schedule="@hourly",
    params=PARAMS,
    max_active_runs=1,
    catchup=False,
    tags=["study", "clean-up"],
    doc_md=__doc__,
    default_args={"retries": 0},
)
def reap_clusters() -> None:
    """One task; red when something could not be removed."""

    @task
    def reap() -> list[str]:
        """What was removed (or would be) and what was left alone, a line each; usually empty."""
        given = asked()
        swept = study_stages.reap(project_root() / given["runs"], given["dry_run"])
        return [str(one) for one in (*swept.reaped, *swept.left_alone)]

    reap()


reap_hourly = reap_clusters()
