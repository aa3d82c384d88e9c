"""The project's DAG for Airflow's own processes, on the simulated backend."""

from tests.dag import backend

backend.install()

from dags.density_study import density  # noqa: E402

__all__ = ["density"]
