"""The DAGs of the studies, for Airflow's own processes, on the simulated backend.

Of three runs of the study `nightly`, the second is slower.
"""

from pathlib import Path

from density_study.cluster.state.journal import run_folders
from tests.dag import backend

OPS_S = (100.0, 80.0, 100.0)
original = backend.run_stage


def run_stage(name: str, root: Path) -> None:
    original(name, root)
    if name == "report" and root.parent.name == "nightly":
        from tests.dag import (
            scheduled_scenarios,
        )  # a second of imports, which each task would pay for

        number = run_folders(root.parents[1], root.parent.name).index(root)
        scheduled_scenarios.write_summary(root, OPS_S[number % len(OPS_S)])


backend.run_stage = run_stage
backend.install()

from airflow.sdk import get_parsing_context  # noqa: E402

from density_study.dags.tasks import study_tasks  # noqa: E402

# Airflow fails a sensor that runs again before the scheduler has seen the end of its last look. On a busy
# machine the scheduler's loop takes some seconds.
study_tasks.LOOK_FOR_HOST_EVERY_S = study_tasks.LOOK_FOR_TURN_EVERY_S = 15.0

from density_study.dags.studies import study_dags  # noqa: E402

globals().update({dag.dag_id: dag for dag in study_dags(get_parsing_context().dag_id)})
