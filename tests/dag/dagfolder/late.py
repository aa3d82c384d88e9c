"""A DAG that is late after two seconds, for the study of a test, which also ends its task."""

import os
import time
from pathlib import Path

from airflow.sdk import dag, task

from density_study.dags.notify.late import deadline

STUDY = "TEST_LATE_STUDY"

if STUDY in os.environ:
    spec = Path(os.environ[STUDY])

    @dag(schedule=None, catchup=False, deadline=deadline(str(spec), 1.0))
    def late() -> None:
        @task
        def wait() -> None:
            until = time.monotonic() + 300
            while not spec.with_suffix(".told").exists() and time.monotonic() < until:
                time.sleep(0.2)

        wait()

    late_dag = late()
