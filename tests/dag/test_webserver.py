"""`python -m dags.webserver` for real: scheduler, dag-processor, API server; LocalExecutor, SQLite."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from dags.home import project_root
from tests.dag.backend import SMALL, break_down, expected_order, order, wait_until
from workloads.run import has_ended, load_run

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v2-flash testdfsio-write-n2"


class Web:
    """Airflow's UI on a free port, spoken to as its own pages do."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.out = folder / "out"
        root = str(project_root())
        environment = {
            **os.environ,
            "AIRFLOW_HOME": str(folder / "airflow"),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": root,
        }
        argv = [sys.executable, "-m", "tests.dag.faked", "webserver", "--port", str(self.port)]
        with self.out.open("w") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=environment)
        self.family: list[psutil.Process] = []
        self.token = ""

    def sign_in(self) -> None:
        wait_until(lambda: "password" in self.out.read_text() or self.ended(), 120, "it is ready")
        text = self.out.read_text()
        password = re.search(r"password +(\S+)", text)
        assert password, text
        self.family = psutil.Process(self.process.pid).children(recursive=True)
        login = {"username": "admin", "password": password[1]}
        answer = requests.post(f"http://127.0.0.1:{self.port}/auth/token", json=login, timeout=30)
        self.token = answer.json()["access_token"]

    def ended(self) -> bool:
        return self.process.poll() is not None

    def ask(self, method: str, path: str, **json_body: Any) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v2/dags/density_study{path}"
        header = {"Authorization": f"Bearer {self.token}"}
        body = json_body or None
        answer = requests.request(method, url, json=body, headers=header, timeout=30)
        answer.raise_for_status()
        return answer.json()

    def trigger(self, **conf: Any) -> str:
        run_id: str = self.ask("POST", "/dagRuns", logical_date=None, conf=conf)["dag_run_id"]
        return run_id

    def state(self, run_id: str) -> str:
        state: str = self.ask("GET", f"/dagRuns/{run_id}")["state"]
        return state

    def wait_over(self, run_id: str) -> str:
        over = ("success", "failed")
        wait_until(lambda: self.state(run_id) in over, 180, f"{run_id} is over")
        return self.state(run_id)

    def rows(self, run_id: str) -> list[dict[str, Any]]:
        rows = self.ask("GET", f"/dagRuns/{run_id}/taskInstances?limit=100")["task_instances"]
        return sorted(rows, key=lambda row: (row["task_id"], row["map_index"]))

    def state_of(self, run_id: str, task: str) -> str | None:
        return next(row["state"] for row in self.rows(run_id) if row["task_id"] == task)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    web = Web(tmp_path_factory.mktemp("web"))
    try:
        web.sign_in()
        yield web
    finally:
        if not web.ended():
            web.process.kill()
        for process in web.family:
            if process.is_running():
                process.kill()


def spec(web: Web, name: str) -> dict[str, str]:
    folder = web.folder / name
    folder.mkdir()
    (folder / "small.yaml").write_text(SMALL)
    return {"spec": str(folder / "small.yaml"), "runs": str(folder / "runs")}


def test_the_scheduler_executes_the_plans_order_a_row_a_step(web: Web) -> None:
    conf = spec(web, "well")
    run_id = web.trigger(**conf)
    assert web.wait_over(run_id) == "success"
    run = load_run(next(Path(conf["runs"]).glob("small/*Z")))
    assert order(run.root) == expected_order(run)
    steps = [row for row in web.rows(run_id) if row["task_id"] == "step"]
    assert [row["rendered_map_index"] for row in steps] == [step.label for step in run.plan.steps]
    assert {row["state"] for row in web.rows(run_id)} == {"success"}
    assert has_ended(run)
    started = [row["start_date"] for row in steps]
    ended = [row["end_date"] for row in steps]
    assert all(end <= start for end, start in zip(ended, started[1:], strict=False)), (
        "one at a time"
    )


def test_a_run_marked_failed_in_the_middle_is_torn_down(web: Web) -> None:
    conf = spec(web, "marked")
    break_down(Path(conf["runs"]), {TRIAL: "sleep 120"})
    run_id = web.trigger(**conf)

    def measures() -> bool:
        logs = Path(conf["runs"]).glob("small/*/order.log")
        return any(TRIAL in log.read_text() for log in logs)

    wait_until(measures, 120, "the trial begins")
    web.ask("PATCH", f"/dagRuns/{run_id}", state="failed")
    wait_until(lambda: web.state_of(run_id, "tear_down") == "success", 120, "it is torn down")
    run = load_run(next(Path(conf["runs"]).glob("small/*Z")))
    assert order(run.root)[-1] == "down b1-v2-flash"
    assert not list(run.root.glob("builds/*/standing"))
    assert web.wait_over(run_id) == "failed", "a failed run is never called a success"
    assert web.state_of(run_id, "conclude") == "failed"
    assert web.state_of(run_id, "publish") == "skipped"
    assert not has_ended(run), "the study can be gone on with"


def test_everything_listens_on_loopback_alone(web: Web) -> None:
    family = psutil.Process(web.process.pid).children(recursive=True)
    listening = {
        connection.laddr.ip
        for process in family
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_the_password_is_the_owners_alone(web: Web) -> None:
    home = web.folder / "airflow"
    assert (home / "passwords.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((home / "passwords.json").read_text())["admin"] in web.out.read_text()
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_taken_port_is_bad_input(web: Web, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "dags.webserver", "--port", str(web.port)]
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow")}
    ended = subprocess.run(
        argv, capture_output=True, text=True, env=environment, cwd=project_root(), check=False
    )
    assert ended.returncode == 2
    assert str(web.port) in ended.stderr
    assert not (tmp_path / "airflow").exists()


def test_ctrl_c_stops_all_of_it(web: Web) -> None:
    family = psutil.Process(web.process.pid).children(recursive=True)
    assert len(family) >= 3
    web.process.send_signal(signal.SIGINT)
    assert web.process.wait(60) == 128 + signal.SIGINT
    gone, alive = psutil.wait_procs(family, timeout=5)
    assert (len(gone), alive) == (len(family), [])
