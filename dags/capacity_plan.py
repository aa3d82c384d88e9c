"""DAG `capacity_plan`: a purchase planned on every run whose tables are new, written beside its report.

Triggered by the asset that `density_study` updates; by hand, name the run. Thin tasks over
dags/stages/capacity_stages.py. What cannot be planned is an excuse in the same place, and no failure.
"""
# Airflow's decorators are not followed by mypy here (pyproject.toml); the functions are typed.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag, task

from dags.stages import capacity_stages
from dags.tasks.assets import RUN, TABLES
from dags.tasks.params import asked

PARAMS = {
    "genomes_per_day": Param(
        100, type="number", exclusiveMinimum=0, title="Genomes a day", description="What to carry."
    ),
    "profile": Param(
        "wgs30x",
        type="string",
        minLength=1,
        title="Profile",
        description="wgs30x, exome, cohort-query, or a YAML file.",
    ),
    "hosts": Param(
        "analysis/capacity/inputs/examples/catalog.yaml",
        type="string",
        minLength=1,
        title="Host catalogue",
        description="YAML file, absolute or in the project's folder. The example's prices are made up.",
    ),
    "slo": Param(
        ["turnaround_p95=24h", "query_p95=3s"],
        type="array",
        items={"type": "string"},
        title="Promises",
        description="turnaround_p95=24h, query_p95=3s.",
    ),
    "run": Param(
        None,
        type=["null", "string"],
        title="Run",
        description="Folder of an analysed run; empty: those whose tables triggered this.",
    ),
}


@dag(
    schedule=[TABLES],
    params=PARAMS,
    catchup=False,
    tags=["study", "capacity"],
    doc_md=__doc__,
    default_args={"retries": 0},
)
def capacity_plan() -> None:
    """Which runs, then a plan for each."""

    @task
    def runs(triggering_asset_events: Any = None) -> list[str]:
        """The run that was named, or those of the events, each once."""
        events = (triggering_asset_events or {}).get(TABLES, ())
        return capacity_stages.runs(asked(), [event.extra.get(RUN) for event in events])

    @task(map_index_template="{{ task.op_kwargs['root'] }}")
    def plan(root: str, params: dict[str, Any] | None = None) -> str:
        """report/capacity-plan.json, and the report again with its planning section."""
        return capacity_stages.plan(root, params or {})

    plan.expand(root=runs())


capacity = capacity_plan()
