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

from density_study.dags.airflow_home.home import project_root
from density_study.dags.stages.task_names import build_group, trial_task
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.planning.plan import Step
from tests.dag.backend import SMALL, break_down, end_clients, most_standing, wait_until
from tests.dag.furnished import furnish

OVER = ("success", "failed")
LATE_STUDY = "TEST_LATE_STUDY"
"""Environment variable of dagfolder/late.py: the study file of a DAG that is late."""


class Web:
    """A client of the REST API used by Airflow's own pages. Its studies are the files in `studies`."""

    python = sys.executable

    def __init__(self, folder: Path, python: Path | None = None, **environment: str) -> None:
        """`python`: of the environment with Airflow; default: this one."""
        if python is not None:
            self.python = str(python)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.studies, self.runs = folder / "studies", folder / "runs"
        self.studies.mkdir(exist_ok=True)
        self.environment = {
            **os.environ,
            "AIRFLOW_HOME": str(folder / "airflow"),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "DENSITY_STUDY_STUDIES": str(self.studies),
            "DENSITY_STUDY_RUNS": str(self.runs),
            "PYTHONPATH": str(project_root()),
            **environment,
        }
        self.out = folder / "out"
        self.family: list[psutil.Process] = []
        self.start()

    def start(self) -> None:
        argv = [self.python, "-m", "tests.dag.faked", "webserver", "--port", str(self.port)]
        with self.out.open("w") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=self.environment)

    def sign_in(self) -> None:
        wait_until(lambda: "password" in self.out.read_text() or self.ended(), 300, "it is ready")
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

    def dags(self) -> set[str]:
        """Ids of those that Airflow has loaded."""
        return {dag["dag_id"] for dag in self.ask("GET", "/dags?limit=100")["dags"]}

    def import_errors(self) -> dict[str, str]:
        """Text by file."""
        errors = self.ask("GET", "/importErrors")["import_errors"]
        return {error["filename"]: error["stack_trace"] for error in errors}

    def ask(self, method: str, path: str, **json_body: Any) -> Any:
        header = {"Authorization": f"Bearer {self.token}"}
        url = f"http://127.0.0.1:{self.port}/api/v2{path}"
        body = json_body or None
        answer = requests.request(method, url, json=body, headers=header, timeout=120)
        answer.raise_for_status()
        return answer.json()

    def dag_runs(self, dag: str) -> list[dict[str, Any]]:
        """Oldest first."""
        runs = self.ask("GET", f"/dags/{dag}/dagRuns?limit=100")["dag_runs"]
        return sorted(runs, key=lambda run: run["run_after"])

    def trigger(self, dag: str, **conf: Any) -> str:
        """The id of the new DAG run."""
        asked = {"logical_date": None, "conf": conf}
        run_id: str = self.ask("POST", f"/dags/{dag}/dagRuns", **asked)["dag_run_id"]
        return run_id

    def state(self, dag: str, run_id: str) -> str:
        state: str = self.ask("GET", f"/dags/{dag}/dagRuns/{run_id}")["state"]
        return state

    def wait_over(self, dag: str, run_id: str) -> str:
        wait_until(lambda: self.state(dag, run_id) in OVER, 600, f"{run_id} is over")
        return self.state(dag, run_id)

    def pause(self, dag: str, paused: bool) -> None:
        self.ask("PATCH", f"/dags/{dag}", is_paused=paused)

    def stop_what_runs(self) -> None:
        """Of a test that failed half-way: otherwise its study would keep the host."""
        found = self.ask("GET", "/dags/~/dagRuns?state=running&state=queued&limit=100")["dag_runs"]
        for run in found:
            dag, run_id = run["dag_id"], run["dag_run_id"]
            self.ask("PATCH", f"/dags/{dag}/dagRuns/{run_id}", state="failed")
            self.wait_over(dag, run_id)


class Study:
    """A study of its own: two builds with two trials each, unless `text` says otherwise."""

    def __init__(self, web: Web, name: str, text: str = SMALL) -> None:
        self.web, self.name, self.dag = web, name, f"study_{name}"
        self.runs = web.runs / name
        self._written: dict[Path, int] = {}
        self.file = web.studies / f"{name}.yaml"
        if not self.file.exists():
            self.file.write_text(named(text, name))

    def ask(self, method: str, path: str, **body: Any) -> Any:
        return self.web.ask(method, f"/dags/{self.dag}{path}", **body)

    def trigger(self, **conf: Any) -> str:
        self._written = {log: len(log.read_text()) for log in self.runs.glob("*/order.log")}
        return self.web.trigger(self.dag, **conf)

    def wait_over(self, run_id: str) -> str:
        return self.web.wait_over(self.dag, run_id)

    def completes(self, **conf: Any) -> str:
        """The id of a DAG run that was triggered and succeeded."""
        run_id = self.trigger(**conf)
        assert self.wait_over(run_id) == "success"
        return run_id

    def clear(
        self,
        run_id: str,
        *tasks: str | tuple[str, int],
        only_failed: bool = False,
        down: bool = True,
    ) -> None:
        """Like the button Clear; `tasks` empty: the whole DAG run. down: the option Downstream, which the
        dialog preselects."""
        body: dict[str, Any] = {
            "dry_run": False, "dag_run_id": run_id,
            "only_failed": only_failed, "include_downstream": down,
        }  # fmt: skip
        if tasks:
            body["task_ids"] = tasks
        self.ask("POST", "/clearTaskInstances", **body)

    def group(self, build: str) -> list[str]:
        """The tasks that Clear on the group of a build names."""
        tasks = self.ask("GET", "/tasks")["tasks"]
        return [task["task_id"] for task in tasks if task["task_id"].startswith(f"{build}.")]

    def mark(self, run_id: str, state: str, task: str = "") -> None:
        """By hand: the DAG run, or one of its tasks."""
        if task:
            self.ask("PATCH", f"/dagRuns/{run_id}/taskInstances/{task}", new_state=state)
        else:
            self.ask("PATCH", f"/dagRuns/{run_id}", state=state)

    def rows(self, run_id: str) -> list[dict[str, Any]]:
        path = f"/dagRuns/{run_id}/taskInstances?limit=100"
        rows: list[dict[str, Any]] = self.ask("GET", path)["task_instances"]
        return sorted(rows, key=lambda row: (row["start_date"] or "~", row["task_id"]))

    def states(self, run_id: str) -> dict[str, str | None]:
        return {row["task_id"]: row["state"] for row in self.rows(run_id)}

    def log_of(self, run_id: str, task: str) -> str:
        """The log of the task's newest attempt."""
        row = next(row for row in self.rows(run_id) if row["task_id"] == task)
        path = f"/dagRuns/{run_id}/taskInstances/{task}/logs/{row['try_number']}"
        return json.dumps(self.ask("GET", path)["content"])

    def break_down(self, **faults: str) -> None:
        break_down(self.runs, faults)

    def folders(self) -> list[Path]:
        return sorted(self.runs.glob("*Z"))

    @property
    def run(self) -> Run:
        """The newest."""
        return load_run(self.folders()[-1])

    def reaches(self, label: str) -> None:
        """Waits until the step has begun, since the last trigger."""

        def has_begun() -> bool:
            logs = self.runs.glob("*/order.log")
            return any(label in log.read_text()[self._written.get(log, 0) :] for log in logs)

        wait_until(has_begun, 400, f"{label} begins")

    def end_trial(self) -> None:
        """Its client ends at once."""
        end_clients(self.run.root)

    def nothing_stands(self) -> bool:
        return not list(self.runs.glob("*/builds/*/standing"))


def task_id(step: Step) -> str:
    """The task of a trial."""
    return f"{build_group(step.build)}.{trial_task(step.build, str(step.trial))}"


def named(text: str, name: str) -> str:
    """The study file's text under this name."""
    return re.sub("^study: .*", f"study: {name}", text)


@contextmanager
def started(
    folder: Path,
    *names: str,
    python: Path | None = None,
    text: str = SMALL,
    at_once: int = 1,
    **environment: str,
) -> Iterator[Web]:
    """Ready for requests about its studies of these `names`, each with this `text`; stopped on exit.

    Whatever a test does, no more than `at_once` clusters ever stand.
    """
    folder.joinpath("studies").mkdir(exist_ok=True)
    for name in names:
        folder.joinpath("studies", f"{name}.yaml").write_text(named(text, name))
    if python is None:  # another version of Airflow has databases of its own
        furnish(folder / "airflow")
    web = Web(folder, python, **environment)
    try:
        web.sign_in()
        wanted = {"capacity_plan", *(f"study_{name}" for name in names)}
        wait_until(lambda: wanted <= web.dags(), 300, "the DAGs are read")
        yield web
    finally:
        web.kill()
    assert most_standing(web.runs) <= at_once
