"""`python -m density_study.dags.web.webserver` for real: scheduler, dag-processor, API server; LocalExecutor,
SQLite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from density_study.dags.airflow_home.home import project_root
from density_study.jobs.stage_names import STAGE_NAMES
from density_study.workloads.execution.run import has_ended
from tests.dag.backend import expected_order, order
from tests.dag.web import Study, Web

pytestmark = [pytest.mark.dag, pytest.mark.slow]


def test_the_scheduler_executes_the_plans_order_one_step_at_a_time(
    completed: tuple[Study, str],
) -> None:
    study, run_id = completed
    run, rows = study.run, study.rows(run_id)
    expected, acts = expected_order(run), order(run.root)
    assert acts[: len(expected)] == expected
    assert set(acts[len(expected) :]) <= {"report"}, "another test's capacity plan may report anew"
    assert {row["state"] for row in rows} == {"success"}
    assert len(rows) == 1 + len(run.plan.steps) + len(STAGE_NAMES) + 1
    assert has_ended(run)
    spans = [(row["start_date"], row["end_date"]) for row in rows]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_every_service_listens_only_on_loopback(web: Web) -> None:
    listening = set()
    for process in psutil.Process(web.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a task's process that has ended meanwhile
            listening |= {
                connection.laddr.ip
                for connection in process.net_connections(kind="inet")
                if connection.status == psutil.CONN_LISTEN
            }
    assert listening == {"127.0.0.1"}


def test_only_the_owner_can_read_the_password(web: Web) -> None:
    home = web.folder / "airflow"
    assert (home / "passwords.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((home / "passwords.json").read_text())["admin"] in web.out.read_text()


def test_a_port_in_use_is_bad_input(web: Web, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "density_study.dags.web.webserver", "--port", str(web.port)]
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow")}
    ended = subprocess.run(
        argv, capture_output=True, text=True, env=environment, cwd=project_root(), check=False
    )
    assert ended.returncode == 2
    assert str(web.port) in ended.stderr
    assert not (tmp_path / "airflow").exists()
