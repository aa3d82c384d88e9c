"""`python -m density_study.dags.inprocess RUN`: execute the DAG of an open run, in process.

It uses `dag.test` on SQLite. `study run` starts this module and sets AIRFLOW_HOME and the other variables of
dags/airflow_home/home.py, because Airflow reads them when it is imported.
"""

from __future__ import annotations

import os
import sys

from density_study.dags.airflow_home.child import watch
from density_study.dags.airflow_home.home import OPEN_RUN, home, migrate_once

SUCCESS, FAILURE = 0, 1


def main(root: str) -> int:
    """Exit code: 0 if the DAG run succeeded."""
    # No clean-up here: a task may be in any state. The parent or `study reap` cleans up.
    watch(lambda: os._exit(FAILURE))
    os.environ[OPEN_RUN] = root  # for dags/studies.py, which `dag.test` reads too
    place = home()
    migrate_once(place.command_database, place.command_environment())
    from airflow.sdk import DagRunState

    from density_study.dags.graph.run_dag import run_dag

    run = run_dag(root).test()
    return SUCCESS if run.state == DagRunState.SUCCESS else FAILURE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
