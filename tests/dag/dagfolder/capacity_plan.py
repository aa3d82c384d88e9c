"""The plan's DAG for Airflow's own processes, on the make-believe backend."""

from tests.dag import backend

backend.install()

from dags.capacity_plan import capacity  # noqa: E402

__all__ = ["capacity"]
