"""The plan's DAG for Airflow's own processes, on the simulated backend and synthetic points."""

from tests.dag import backend

backend.install()

from density_study.analysis.capacity.inputs import run_points  # noqa: E402
from density_study.dags.capacity_plan import capacity  # noqa: E402
from tests.support.capacity.populations import measured, truths  # noqa: E402

run_points.run_points = lambda _: measured(truths(1, 1), (2, 4, 8), seed=1)

__all__ = ["capacity"]
