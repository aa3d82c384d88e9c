"""`python -m dags.component scheduler ...`: one of Airflow's own processes, on a lifeline.

Started by dags/webserver.py. When that is gone, Airflow is asked to end as an operator would: SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys

from dags import lifeline
from dags.database import migrate_once
from dags.home import SCHEDULER_PID, home

PREPARE = "prepare"


def main() -> None:
    lifeline.watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    if sys.argv[1] == PREPARE:
        prepare()
        return
    if sys.argv[1] == "scheduler":
        os.environ[SCHEDULER_PID] = str(os.getpid())
    from airflow.__main__ import main as airflow

    airflow()


def prepare() -> None:
    """The database made, and the runs in it that a stopped scheduler left unfinished, ended.

    Their clusters are gone; a new scheduler would run their next steps on what is not there. A
    study's run itself is not lost: triggered again, it goes on where it stopped.
    """
    migrate_once(home().web_database)
    from airflow.models import DagRun, TaskInstance
    from airflow.utils.session import create_session
    from airflow.utils.state import DagRunState, State, TaskInstanceState
    from sqlalchemy import or_, select, update

    with create_session() as session:
        left = select(DagRun.run_id).where(DagRun.state.in_(State.unfinished_dr_states))
        open_tasks = or_(
            TaskInstance.state.is_(None), TaskInstance.state.in_(State.unfinished - {None})
        )
        tasks = update(TaskInstance).where(TaskInstance.run_id.in_(left), open_tasks)
        session.execute(tasks.values(state=TaskInstanceState.FAILED))
        runs = update(DagRun).where(DagRun.state.in_(State.unfinished_dr_states))
        session.execute(runs.values(state=DagRunState.FAILED))


if __name__ == "__main__":
    main()
