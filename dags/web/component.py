"""`python -m density_study.dags.web.component scheduler ...`: one of Airflow's processes, with a lifeline.

Started by dags/web/webserver.py. When that process ends, the component sends itself SIGTERM, Airflow's
regular way to stop.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from importlib import import_module

from density_study.dags.airflow_home.child import watch
from density_study.dags.airflow_home.home import SCHEDULER_PID

FORKING = ("scheduler", "dag-processor")
"""They execute each task and read each DAG file in a fork of themselves."""
PRELOADED = (
    "airflow.sdk",
    "density_study.dags.graph.run_dag",
    "density_study.dags.graph.study_dag",
    "density_study.dags.stages.opening",
    "density_study.dags.stages.study_stages",
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
