"""`study setup` and `study airflow`: what other commands need, and Airflow's web UI. Thin, like main.py."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from density_study.cluster.model.extras import installed, need
from density_study.dags.cli.arguments import examples
from density_study.dags.cli.console import err, out

SETUP_EXAMPLES = examples("study setup")
AIRFLOW_EXAMPLES = examples("study airflow", "study airflow --port 8081")
WEB_PORT = 8080


def setup() -> None:
    """Fetch Hadoop, HBase and YCSB into the cache, and create Airflow's database.

    Also archives their classes and Spark's, with which Java starts faster. Needs the network and Maven the
    first time. Does nothing if everything is there.
    """
    from density_study.cluster.stack.archive import ensure_archives
    from density_study.cluster.stack.java import find_java
    from density_study.cluster.stack.recipes import RECIPES
    from density_study.cluster.stack.stack import ensure_all

    stacks = ensure_all(list(RECIPES))
    ensure_archives(stacks, find_java())
    for stack in stacks:
        out.print(f"{stack.name} {stack.version} {stack.home}")
    if installed("spark"):
        from density_study.jobs.spark.class_archive import ensure_class_archive

        if obstacle := ensure_class_archive():
            err.print(
                f"Spark starts without an archive of its classes, which takes longer: {obstacle}"
            )
    if installed("airflow"):
        from density_study.dags.airflow_home.home import create_command_database

        create_command_database()
    else:
        err.print("Airflow is not installed, so `study run` is not available.")


def airflow(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = WEB_PORT,
) -> None:
    """Start Airflow's web UI and scheduler with this program's DAGs, on loopback. Ctrl-C stops them."""
    from density_study.dags.airflow_home.child import python

    need("Airflow's web UI", "airflow", "spark", "report")
    argv = python("density_study.dags.web.webserver", "--port", str(port))
    os.execv(argv[0], argv)
