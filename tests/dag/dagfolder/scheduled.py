"""Airflow's DAGs of scheduled studies, on the simulated backend: the second of three runs is
slower."""

from pathlib import Path

from cluster.state.journal import run_folders
from tests.dag import backend, scheduled_scenarios

OPS_S = (100.0, 80.0, 100.0)
original = backend.run_stage


def run_stage(name: str, root: Path) -> None:
    original(name, root)
    if name == "report":
        number = run_folders(root.parents[1], root.parent.name).index(root)
        scheduled_scenarios.write_summary(root, OPS_S[number % len(OPS_S)])


backend.run_stage = run_stage
backend.install()

from dags import scheduled  # noqa: E402

globals().update({f"study_{s.study}": scheduled.study_dag(path, s)
                  for path, s in scheduled.scheduled_studies()})  # fmt: skip
