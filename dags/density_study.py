"""DAG `density_study`: one study, from its YAML file to its report. Its tasks: dags/tasks/study_tasks.py."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from airflow.sdk import Param, dag

from dags.airflow_home.home import project_root
from dags.tasks.study_tasks import OPERATING, study_tasks

SHIPPED = sorted(
    str(path.relative_to(project_root()))
    for path in (project_root() / "workloads" / "studies").glob("*.yaml")
)

PARAMS = {
    "spec": Param(
        "workloads/studies/quickstart.yaml",
        type="string",
        minLength=1,
        title="Study",
        description="The study's YAML file: absolute, or relative to the project's folder.",
        examples=SHIPPED,
    ),
    "overrides": Param(
        {},
        type="object",
        additionalProperties=True,
        title="Overrides",
        description=(
            "Keys of the study to replace for this run, dotted where they are nested: "
            '{"repetitions": 2, "stack.base_port": 22000}.'
        ),
    ),
    "fresh": Param(
        False,
        type="boolean",
        title="Start anew",
        description="Off: go on with the newest unfinished run, if the study is unchanged.",
    ),
    "add_repetitions": Param(
        0,
        type="integer",
        minimum=0,
        maximum=1000,
        title="Add repetitions",
        description="Extend the newest finished run: build every topology that many times more.",
    ),
    "only": Param(
        [],
        type="array",
        items={"type": "string"},
        title="Only these settings",
        description="Globs of setting ids, such as ycsb-*; none: all. A finished run is extended.",
    ),
    "runs": Param(
        "runs",
        type="string",
        minLength=1,
        title="Runs folder",
        description="Where runs are kept: absolute, or relative to the project's folder.",
        section="NodePaths",
    ),
    "run": Param(
        None,
        type=["null", "string"],
        title="Opened run",
        description="Folder of a run that is already open, to carry out as it is. Usually empty.",
        section="NodePaths",
    ),
}


@dag(
    schedule=None,
    params=PARAMS,
    max_active_runs=1,
    catchup=False,
    tags=["study", "hadoop", "hbase"],
    doc_md=f"{__doc__}\n{OPERATING}",
    default_args={"retries": 0},
)
def density_study() -> None:
    """Open, build and measure in the plan's order, tear down, analyse, conclude."""
    study_tasks()


density = density_study()
