"""`EndedDagRuns`: what Airflow knows of an owner that cannot be seen from this worker."""

from __future__ import annotations

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowRuntimeError

_OVER = ("success", "failed")


class EndedDagRuns:
    """The names "<DAG>/<run id>" of the DAG runs of this Airflow that are over. For use within a task."""

    def __contains__(self, owner: object) -> bool:
        dag_id, _, run_id = str(owner).partition("/")
        try:
            state = get_current_context()["ti"].get_dagrun_state(dag_id, run_id)
        except AirflowRuntimeError:  # no DAG run of this Airflow
            return False
        return state in _OVER
