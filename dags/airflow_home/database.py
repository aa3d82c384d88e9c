"""Airflow's metadata database: made once for each version of Airflow, then only opened.

`python -m dags.airflow_home.database PATH` is for a process whose environment is already set
(dags/airflow_home/home.py), since importing Airflow reads it.
"""

from __future__ import annotations

import fcntl
import sys
from importlib.metadata import version
from pathlib import Path

from cluster.state.atomic import write_text


def migrate_once(database: Path) -> None:
    """Create or upgrade `database`, unless this very version of Airflow has already done it."""
    installed = version("apache-airflow")  # without importing it, which takes seconds
    ready = database.with_suffix(".ready")
    if database.exists() and ready.exists() and ready.read_text() == installed:
        return
    from airflow.utils.db import initdb

    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ready.with_suffix(".lock").open("w") as lock:  # two first runs at once: one waits
        fcntl.flock(lock, fcntl.LOCK_EX)
        initdb()
        write_text(ready, installed)


if __name__ == "__main__":
    migrate_once(Path(sys.argv[1]))
