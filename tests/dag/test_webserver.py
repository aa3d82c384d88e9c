"""`python -m dags.web.webserver` for real: scheduler, dag-processor, API server; LocalExecutor,
SQLite."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dags.airflow_home.home import project_root
from tests.dag.backend import expected_order, order
from tests.dag.web import Study, Web, started
from workloads.execution.run import has_ended

pytestmark = pytest.mark.dag


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with started(tmp_path_factory.mktemp("web")) as web:
        yield web


def test_the_scheduler_executes_the_plans_order_with_one_row_per_step(web: Web) -> None:
    study = Study(web, "well")
    run_id = web.trigger(**study.conf)
    assert web.wait_over(run_id) == "success"
    run, expected = study.run, expected_order(study.run)
    assert order(run.root)[: len(expected)] == expected, "capacity_plan may have published again"
    steps = [row for row in web.rows(run_id) if row["task_id"] == "step"]
    assert [row["rendered_map_index"] for row in steps] == [step.label for step in run.plan.steps]
    assert {row["state"] for row in web.rows(run_id)} == {"success"}
    assert has_ended(run)
    starts = [row["start_date"] for row in steps]
    ends = [row["end_date"] for row in steps]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False)), "one at a time"


def test_every_service_listens_only_on_loopback(web: Web) -> None:
    family = psutil.Process(web.process.pid).children(recursive=True)
    listening = {
        connection.laddr.ip
        for process in family
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_only_the_owner_can_read_the_password(web: Web) -> None:
    home = web.folder / "airflow"
    assert (home / "passwords.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((home / "passwords.json").read_text())["admin"] in web.out.read_text()
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_port_in_use_is_bad_input(web: Web, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "dags.web.webserver", "--port", str(web.port)]
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow")}
    ended = subprocess.run(
        argv, capture_output=True, text=True, env=environment, cwd=project_root(), check=False
    )
    assert ended.returncode == 2
    assert str(web.port) in ended.stderr
    assert not (tmp_path / "airflow").exists()


def test_ctrl_c_stops_all_processes(web: Web) -> None:
    family = psutil.Process(web.process.pid).children(recursive=True)
    assert len(family) >= 3
    web.process.send_signal(signal.SIGINT)
    assert web.process.wait(60) == 128 + signal.SIGINT
    ended, alive = psutil.wait_procs(family, timeout=5)
    assert (len(ended), alive) == (len(family), [])
