"""DAG `capacity_plan`: size a cluster from each newly analysed run, and add the plan to the run's report.

It plans only with a host catalogue that somebody named: a plan with other prices says nothing. With the
setting `catalogue`, the asset that every study updates triggers it after each run. To trigger it by
hand, name the run, and the catalogue if the setting does not. If no plan fits, the file holds the reasons
instead, and the DAG run still succeeds. The tasks are thin; see dags/stages/study_stages.py.
"""
# mypy does not follow Airflow's decorators (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag, task

from density_study.cluster.state.settings import setting
from density_study.dags.tasks.params import bad_input_fails, checked_params
from density_study.dags.tasks.study_tasks import RETRIES, RETRY_DELAY, RUN, TABLES

CATALOGUE = setting("catalogue")
PARAMS = {
    "genomes_per_day": Param(
        100,
        type="number",
        exclusiveMinimum=0,
        title="Genomes per day",
        description="Load that the cluster must sustain.",
    ),
    "profile": Param(
        "wgs30x",
        type="string",
        minLength=1,
        title="Profile",
        description="Workload of one genome: wgs30x, exome, cohort-query, or a YAML file.",
    ),
    "hosts": Param(
        CATALOGUE,
        type=["null", "string"],
        title="Host catalogue",
        description="YAML file with your host types and prices: absolute path, or relative to the project "
        "folder. Default: the setting `catalogue`.",
    ),
    "slo": Param(
        ["turnaround_p95=24h", "query_p95=3s"],
        type="array",
        items={"type": "string"},
        title="SLOs",
        description="Service level objectives, for example turnaround_p95=24h and query_p95=3s.",
    ),
    "run": Param(
        None,
        type=["null", "string"],
        title="Run",
        description="Folder of an analysed run, in the folder of runs. Empty: the runs that triggered this "
        "DAG run.",
    ),
}


@dag(
    schedule=[TABLES] if CATALOGUE else None,
    params=PARAMS,
    catchup=False,
    tags=["study", "capacity"],
    doc_md=__doc__,
    default_args={"retries": RETRIES, "retry_delay": RETRY_DELAY},
)
def capacity_plan() -> None:
    """Find the runs, then plan for each."""

    @task
    def runs(triggering_asset_events: Any = None) -> list[str]:
        """The run given as a parameter, else the runs of the triggering events, without duplicates."""
        from density_study.dags.stages import study_stages

        events = (triggering_asset_events or {}).get(TABLES, ())
        triggering = [event.extra.get(RUN) for event in events]
        with bad_input_fails():
            return study_stages.runs_to_plan(checked_params(), triggering)

    @task(map_index_template="{{ task.op_kwargs['root'] }}")
    def plan(root: str, params: dict[str, Any] | None = None) -> str:
        """Write report/capacity-plan.json, and the report again with its planning section."""
        from density_study.dags.stages import study_stages

        with bad_input_fails():
            return study_stages.plan_capacity(root, params or {})

    plan.expand(root=runs())


capacity = capacity_plan()
