"""`python -m dags.web.component scheduler ...`: one of Airflow's own processes, with a lifeline.

Started by dags/web/webserver.py. When that process ends, the component sends itself SIGTERM, Airflow's
regular way to stop.
"""

from __future__ import annotations

import os
import signal
import sys

from dags.airflow_home.child import watch
from dags.airflow_home.home import SCHEDULER_PID

FORKING = ("scheduler", "dag-processor")
"""They execute each task and read each DAG file in a fork of themselves."""


def main() -> None:
    watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    if sys.argv[1] == "scheduler":
        os.environ[SCHEDULER_PID] = str(os.getpid())
    from airflow.__main__ import main as airflow

    if sys.argv[1] in FORKING:
        preload()
    airflow()


def preload() -> None:
    """Import what each task and each reading of a DAG file would import anew: about a second of a core."""
    import airflow.dag_processing.dagbag
    import airflow.sdk.execution_time.task_runner

    import dags.graph.run_dag
    import dags.graph.study_dag
    import dags.stages.opening
    import dags.stages.study_stages  # noqa: F401


if __name__ == "__main__":
    main()
