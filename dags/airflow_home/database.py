"""Airflow's metadata database: created once per version of Airflow, then only opened.

`python -m dags.airflow_home.database PATH` needs the environment of dags/airflow_home/home.py, because
Airflow reads it when it is imported.
"""

from __future__ import annotations

import fcntl
import sys
from importlib.metadata import version
from pathlib import Path

from cluster.state.atomic import write_text


def migrate_once(database: Path) -> None:
    """Create or upgrade `database`, unless this version of Airflow has already done so."""
    installed = version("apache-airflow")  # importing Airflow for this takes seconds
    ready = database.with_suffix(".ready")
    if database.exists() and ready.exists() and ready.read_text() == installed:
        return
    from airflow.utils.db import initdb

    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ready.with_suffix(".lock").open("w") as lock:  # serialises two concurrent first runs
        fcntl.flock(lock, fcntl.LOCK_EX)
        initdb()
        write_text(ready, installed)


if __name__ == "__main__":
    migrate_once(Path(sys.argv[1]))
