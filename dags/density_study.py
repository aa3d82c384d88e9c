"""DAG `density_study`: run one study, from its YAML file to its report (tasks: dags/tasks/study_tasks.py)."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from airflow.sdk import dag

from dags.tasks.params import study_params
from dags.tasks.ssh_key import use_ssh_connection
from dags.tasks.study_tasks import OPERATING, study_tasks
from workloads.spec.shipped import shipped_studies


@dag(
    schedule=None,
    params=study_params("quickstart", shipped=shipped_studies()),
    max_active_runs=1,
    catchup=False,
    tags=["study", "hadoop", "hbase"],
    doc_md=f"{__doc__}\n{OPERATING}",
    default_args={"retries": 0, "pre_execute": use_ssh_connection},
)
def density_study() -> None:
    """Open, build and measure in the plan's order, tear down, analyse, conclude."""
    study_tasks()


density = density_study()
