"""`python -m dags.web.component scheduler ...`: one of Airflow's own processes, with a lifeline.

Started by dags/web/webserver.py. When that process ends, the component sends itself SIGTERM, Airflow's
regular way to stop.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from importlib import import_module

from dags.airflow_home.child import watch
from dags.airflow_home.home import SCHEDULER_PID

FORKING = ("scheduler", "dag-processor")
"""They execute each task and read each DAG file in a fork of themselves."""
PRELOADED = (
    "airflow.sdk",
    "dags.graph.run_dag",
    "dags.graph.study_dag",
    "dags.stages.opening",
    "dags.stages.study_stages",
)
"""Every fork would import them anew: a second of a core for each task."""


def main() -> None:
    watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    if sys.argv[1] == "scheduler":
        os.environ[SCHEDULER_PID] = str(os.getpid())
    if sys.argv[1] in FORKING:
        for module in PRELOADED:
            import_module(module)
    runpy.run_module("airflow", run_name="__main__")  # as `python -m airflow` does


if __name__ == "__main__":
    main()
