"""`Web`: Airflow's scheduler, dag-processor and UI on a free port, on the simulated backend."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import requests

from dags.airflow_home.home import project_root
from tests.dag.backend import SMALL, break_down, wait_until
from workloads.execution.run import Run, load_run

STUDY = "density_study"
OVER = ("success", "failed")


class Web:
    """A client of the REST API used by Airflow's own pages. `dag` is the target of a request:
    `density_study`."""

    def __init__(self, folder: Path, **environment: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.environment = {
            **os.environ,
            "AIRFLOW_HOME": str(folder / "airflow"),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": str(project_root()),
            **environment,
        }
        self.out = folder / "out"
        self.family: list[psutil.Process] = []
        self.start()

    def start(self) -> None:
        argv = [sys.executable, "-m", "tests.dag.faked", "webserver", "--port", str(self.port)]
        with self.out.open("w") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=self.environment)

    def sign_in(self) -> None:
        wait_until(lambda: "password" in self.out.read_text() or self.ended(), 180, "it is ready")
        text = self.out.read_text()
        password = re.search(r"password +(\S+)", text)
        assert password, text
        self.family += psutil.Process(self.process.pid).children(recursive=True)
        login = {"username": "admin", "password": password[1]}
        answer = requests.post(f"http://127.0.0.1:{self.port}/auth/token", json=login, timeout=30)
        self.token = answer.json()["access_token"]

    def ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        if not self.ended():
            self.process.kill()
        for process in self.family:
            if process.is_running():
                process.kill()

    def has(self, *dags: str) -> bool:
        """Whether Airflow has loaded them all."""
        return {dag["dag_id"] for dag in self.ask("GET", "", "")["dags"]} >= set(dags)

    def ask(self, method: str, path: str, dag: str = STUDY, **json_body: Any) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v2/dags{dag and '/'}{dag}{path}"
        header = {"Authorization": f"Bearer {self.token}"}
        body = json_body or None
        answer = requests.request(method, url, json=body, headers=header, timeout=120)
        answer.raise_for_status()
        return answer.json()

    def trigger(self, dag: str = STUDY, **conf: Any) -> str:
        response = self.ask("POST", "/dagRuns", dag, logical_date=None, conf=conf)
        run_id: str = response["dag_run_id"]
        return run_id

    def clear(
        self,
        run_id: str,
        *tasks: str | tuple[str, int],
        only_failed: bool = False,
        down: bool = False,
    ) -> None:
        """Like the button Clear; `tasks` empty: the whole DAG run. down: downstream tasks, too."""
        body: dict[str, Any] = {
            "dry_run": False, "dag_run_id": run_id,
            "only_failed": only_failed, "include_downstream": down,
        }  # fmt: skip
        if tasks:
            body["task_ids"] = tasks
        self.ask("POST", "/clearTaskInstances", **body)

    def dag_runs(self, dag: str = STUDY) -> list[dict[str, Any]]:
        """Oldest first."""
        runs = self.ask("GET", "/dagRuns?limit=100", dag)["dag_runs"]
        return sorted(runs, key=lambda run: run["run_after"])

    def dag_run(self, run_id: str, dag: str = STUDY) -> dict[str, Any]:
        run: dict[str, Any] = self.ask("GET", f"/dagRuns/{run_id}", dag)
        return run

    def state(self, run_id: str, dag: str = STUDY) -> str:
        state: str = self.dag_run(run_id, dag)["state"]
        return state

    def wait_over(self, run_id: str, dag: str = STUDY) -> str:
        wait_until(lambda: self.state(run_id, dag) in OVER, 240, f"{run_id} is over")
        return self.state(run_id, dag)

    def rows(self, run_id: str, dag: str = STUDY) -> list[dict[str, Any]]:
        rows = self.ask("GET", f"/dagRuns/{run_id}/taskInstances?limit=100", dag)["task_instances"]
        return sorted(rows, key=lambda row: (row["task_id"], row["map_index"]))

    def state_of(self, run_id: str, task: str, dag: str = STUDY) -> str | None:
        return next(row["state"] for row in self.rows(run_id, dag) if row["task_id"] == task)

    def log_of(self, run_id: str, task: str, slot: int = -1) -> str:
        """The log of the task's newest attempt."""
        named = [row for row in self.rows(run_id) if row["task_id"] == task]
        row = next(row for row in named if row["map_index"] == slot)
        path = f"/dagRuns/{run_id}/taskInstances/{task}/logs/{row['try_number']}"
        return json.dumps(self.ask("GET", f"{path}?map_index={slot}")["content"])


@contextmanager
def started(folder: Path, *dags: str, **environment: str) -> Iterator[Web]:
    """Ready for requests about its `dags`; stopped on exit in any case."""
    web = Web(folder, **environment)
    try:
        web.sign_in()
        wait_until(lambda: web.has(STUDY, "capacity_plan", *dags), 180, "the DAGs are read")
        yield web
    finally:
        web.kill()


class Study:
    """The small study in a folder of its own."""

    def __init__(self, web: Web, name: str) -> None:
        folder = web.folder / name
        folder.mkdir()
        (folder / "small.yaml").write_text(SMALL)
        self.runs = folder / "runs"
        self.conf = {"spec": str(folder / "small.yaml"), "runs": str(self.runs)}

    def break_down(self, **faults: str) -> None:
        break_down(self.runs, faults)

    def folders(self) -> list[Path]:
        return sorted((self.runs / "small").glob("*Z"))

    @property
    def run(self) -> Run:
        """The newest."""
        return load_run(self.folders()[-1])

    def reaches(self, label: str) -> None:
        def has_begun() -> bool:
            return any(label in log.read_text() for log in self.runs.glob("small/*/order.log"))

        wait_until(has_begun, 180, f"{label} begins")
