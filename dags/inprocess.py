"""`python -m dags.inprocess RUN`: the DAG, run in process on SQLite by `dag.test`, for an open run.

Started by `study run`, which sets AIRFLOW_HOME and the rest (dags/airflow_home/home.py): Airflow reads them
when it is imported.
"""

from __future__ import annotations

import os
import sys

from dags.airflow_home import lifeline
from dags.airflow_home.database import migrate_once
from dags.airflow_home.home import home

SUCCESS, FAILURE = 0, 1


def main(root: str) -> int:
    """Exit code: 0 if the run of the DAG succeeded."""
    # No clean-up here: a task may be in the middle of anything. The parent does it, or `study reap`.
    lifeline.watch(lambda: os._exit(FAILURE))
    migrate_once(home().command_database)
    from airflow.sdk import DagRunState

    from dags.density_study import density

    run = density.test(run_conf={"run": root})
    return SUCCESS if run.state == DagRunState.SUCCESS else FAILURE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
