"""What every task that uses this project does first, in whatever Airflow it runs."""

from __future__ import annotations

from typing import Any

from density_study.cluster.state import shell
from density_study.dags.tasks.ssh_key import use_ssh_connection


def own_process(context: Any) -> None:
    """`pre_execute` of the tasks: a clean environment, which keeps what belongs to Airflow, and the SSH key
    of the connection. Airflow gives each task a process of its own."""
    shell.clean(hosted=True)
    use_ssh_connection(context)
