"""`python -m dags.web.component scheduler ...`: one of Airflow's own processes, with a lifeline.

Started by dags/web/webserver.py. When that process ends, the component sends itself SIGTERM, Airflow's
regular way to stop.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import datetime

from dags.airflow_home.child import watch
from dags.airflow_home.home import SCHEDULER_PID, home, migrate_once

PREPARE = "prepare"


def main() -> None:
    watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    if sys.argv[1] == PREPARE:
        prepare()
        return
    if sys.argv[1] == "scheduler":
        os.environ[SCHEDULER_PID] = str(os.getpid())
    from airflow.__main__ import main as airflow

    airflow()


def prepare() -> None:
    """Create the database, and mark the DAG runs that a stopped scheduler left unfinished as failed.

    Their clusters are gone, so a new scheduler must not execute their next steps. The study's run is not
    lost: trigger it again to resume it. Their end date is the scheduler's last heartbeat, because nothing
    ran after that.
    """
    migrate_once(home().web_database)
    from airflow.jobs.job import Job
    from airflow.models import DagRun, TaskInstance
    from airflow.utils import timezone
    from airflow.utils.session import create_session
    from airflow.utils.state import DagRunState, State, TaskInstanceState
    from sqlalchemy import func, select

    with create_session() as session:
        last = select(func.max(Job.latest_heartbeat)).where(Job.job_type == "SchedulerJob")
        stopped: datetime = session.scalar(last) or timezone.utcnow()
        left = select(DagRun).where(DagRun.state.in_(State.unfinished_dr_states))
        for run in session.scalars(left):
            run.state = DagRunState.FAILED
            run.end_date = stopped
            mine = select(TaskInstance).filter_by(dag_id=run.dag_id, run_id=run.run_id)
            for task in session.scalars(mine):
                if task.state is None or task.state in State.unfinished:
                    task.state = TaskInstanceState.FAILED
                    task.end_date = max(stopped, task.start_date or stopped)
                    task.set_duration()
                run.end_date = max(run.end_date, task.end_date or stopped)


if __name__ == "__main__":
    main()
