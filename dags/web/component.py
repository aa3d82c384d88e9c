"""`python -m dags.web.component scheduler ...`: one of Airflow's own processes, with a lifeline.

Started by dags/web/webserver.py. When that process ends, the component sends itself SIGTERM, Airflow's
regular way to stop.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys

from dags.airflow_home.child import watch
from dags.airflow_home.home import SCHEDULER_PID


def main() -> None:
    watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    if sys.argv[1] == "scheduler":
        os.environ[SCHEDULER_PID] = str(os.getpid())
    runpy.run_module("airflow", run_name="__main__")  # as `python -m airflow` does


if __name__ == "__main__":
    main()
