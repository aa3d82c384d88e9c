"""`TeamAirflow`: an Airflow for a team on the simulated backend, as docs/how-to/airflow-cluster.md says.

PostgreSQL, Redis, scheduler, dag-processor, API server, and workers that are machines of their own: each
has a host name and a folder of leases.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from density_study.cluster.state import presence
from density_study.cluster.state.tags import tagged
from density_study.dags.airflow_home.home import project_root
from density_study.dags.web import rest
from tests.dag.backend import wait_until
from tests.dag.celery.machine import Machine, Unit
from tests.dag.celery.services import Postgres, Redis, free_port
from tests.dag.web import Study, Web

USER, QUEUES = "admin", {"one": "default,rack-1", "two": "default,rack-2"}
READY_WITHIN_S = 300.0
MARKS = (
    pytest.mark.dag,
    pytest.mark.slow,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        os.geteuid() != 0, reason="PID namespaces, mounts and PostgreSQL's user need root"
    ),
)
FIRST_SCHEDULED = 90.0
"""Seconds within which the scheduler has begun a task that can begin."""
WORKLOADS = """
workloads:
  - testdfsio: {{modes: [write, read], files: 2, file_size: 1 MiB}}
"""
LOCAL = (
    """\
study: {name}
hosts:
  - {{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{{disk_type: flash}}]}}
factors: {{vms_per_host: [1]}}"""
    + WORKLOADS
)
LOCAL_TRIAL = "trial b1-v1-flash testdfsio-write-n2"
WAITS = "when_busy: queue\n"


class TeamAirflow(Web):
    """`workers`: by name, which is the host's name too. Each serves its queues: the default one, and one of
    its own."""

    def __init__(self, folder: Path, python: Path, queues: Mapping[str, str] = QUEUES) -> None:
        self.folder, self.python, self.port = folder, str(python), free_port()
        self._queues = queues
        self.studies, self.runs, self.logs = folder / "studies", folder / "runs", folder / "logs"
        for path in (self.studies, self.runs, self.logs, folder / "airflow"):
            path.mkdir()
        self._password = secrets.token_urlsafe(12)
        self.machine = Machine()
        try:
            self.postgres = Postgres(self.machine, self.logs)
            redis = Redis(self.machine, self.logs)
            self.environment = self._settings(redis.address)
            self._airflow("db", "migrate")
            self.units = {
                name: self._unit(name, *argv)
                for name, argv in {
                    "api-server": ["api-server"],
                    "scheduler": ["scheduler", "--skip-serve-logs"],
                    "dag-processor": ["dag-processor"],
                }.items()
            }
            self.workers = {name: self._worker(name) for name in queues}
        except BaseException:
            self.machine.close()
            raise

    def _settings(self, broker: str) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.port}"
        passwords = self.folder / "airflow" / "passwords.json"
        passwords.write_text(json.dumps({USER: self._password}))
        test = {
            "PYTHONPATH": str(project_root()),
            "NO_PROXY": "127.0.0.1",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "",  # empty: byte code is kept beside the cached packages
            "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300",
            "AIRFLOW__CORE__DAGS_FOLDER": str(project_root() / "tests" / "dag" / "dagfolder"),
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "15",
            "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__CELERY__WORKER_CONCURRENCY": "2",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
            # Shorter than the recipe's, so that a test need not wait for minutes.
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "120",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        }
        recipe = {
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "DENSITY_STUDY_STUDIES": str(self.studies),
            "DENSITY_STUDY_RUNS": str(self.runs),
            "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://{self.postgres.address}",
            "AIRFLOW__CELERY__BROKER_URL": broker,
            "AIRFLOW__CELERY__RESULT_BACKEND": f"db+postgresql+psycopg2://{self.postgres.address}",
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(32),
            "AIRFLOW__API__SECRET_KEY": secrets.token_urlsafe(32),
            "AIRFLOW__WORKERS__MAX_FAILED_HEARTBEATS": "60",
            "AIRFLOW__CELERY_BROKER_TRANSPORT_OPTIONS__VISIBILITY_TIMEOUT": "1209600",
        }
        return {**os.environ, **test, **recipe}

    def _airflow(self, *arguments: str) -> str:
        argv = [self.python, "-m", "airflow", *arguments]
        return self.machine.run(*argv, environment=self.environment)

    def _unit(self, name: str, *arguments: str, host: str = "", **more: str) -> Unit:
        argv = [self.python, "-m", "airflow", *arguments]
        environment = {**self.environment, **more}
        return self.machine.unit(argv, environment, self.logs / f"{name}.log", host)

    def _worker(self, name: str) -> Unit:
        leases = self.folder / f"leases-{name}"
        leases.mkdir(mode=0o700, exist_ok=True)
        return self._unit(
            f"worker-{name}", "celery", "worker", "--queues", self._queues[name],
            "--celery-hostname", f"{name}@{name}", "--skip-serve-logs",
            host=name, DENSITY_STUDY_RUNTIME=str(leases),
        )  # fmt: skip

    def sign_in(self) -> None:
        """Waits until Airflow is ready."""
        wait_until(self.is_healthy, READY_WITHIN_S, "Airflow is healthy")
        login = {"username": USER, "password": self._password}
        answer = requests.post(f"http://127.0.0.1:{self.port}/auth/token", json=login, timeout=30)
        self.token = answer.json()["access_token"]

    def is_healthy(self) -> bool:
        health: dict[str, Any] = rest.health(f"http://127.0.0.1:{self.port}")
        parts = ("metadatabase", "scheduler", "dag_processor")
        return all(health.get(part, {}).get("status") == "healthy" for part in parts)

    def add(self, **studies: str) -> None:
        """Study files by name. Airflow has read their DAGs on return."""
        for name, text in studies.items():
            (self.studies / f"{name}.yaml").write_text(text.format(name=name))
        wanted = {f"study_{name}" for name in studies}
        wait_until(lambda: wanted <= self.dags(), 300, "the DAGs are read")

    def worker_of(self, pid: int) -> str:
        """Name of the worker that started this process, or an ancestor of it."""
        above = {process.pid for process in psutil.Process(pid).parents()}
        return next(name for name, unit in self.workers.items() if unit.pid in above)

    def kill(self) -> None:
        self.machine.close()


def client_of(study: Study) -> psutil.Process:
    """The process that loads the cluster in a trial."""
    (found,) = wait_until(lambda: tagged(study.run.tag), 60, "its client runs")
    return psutil.Process(found.pid)


def check_over(study: Study) -> None:
    assert study.nothing_stands()
    assert tagged(study.run.tag) == []
    assert presence.is_free(study.run.root) is True


def check_waits(study: Study, run_id: str) -> None:
    """It has seen that its host is busy, and has begun nothing."""
    waits = lambda: study.states(run_id)["open"] == "up_for_reschedule"  # noqa: E731
    wait_until(waits, FIRST_SCHEDULED, "the study has seen that its host is busy")
    assert study.folders() == []
    assert {state for task, state in study.states(run_id).items() if task != "open"} == {None}


def times_of(study: Study) -> tuple[float, float]:
    """When its newest run was opened and ended, epoch seconds."""
    lines = list(study.run.journal.read())
    return lines[0]["t"], next(one["t"] for one in reversed(lines) if one["event"] == "run-ended")
