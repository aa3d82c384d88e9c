"""`Home`: where this project's Airflow keeps its database and logs, and the environment it runs in.

Pure: paths in, variables out; only `python -m dags.airflow_home.home` acts: it makes the command's
database, so that the first study does not wait for it. Two databases lie side by side, because a
scheduler that finds the running DAG run of a command in its own database would run the same tasks twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"
WEB_PORT = 8080
SCHEDULER_PID = "STUDY_SCHEDULER_PID"
"""Environment variable with the process number of the scheduler that `make airflow` started."""
MAX_STEPS = 100_000
"""Longest plan Airflow may map over; its own default, 1024, is less than eight repetitions may need."""


@dataclass(frozen=True)
class Home:
    """`root` is AIRFLOW_HOME; `project` the folder that holds dags/, workloads/ and runs/."""

    root: Path
    project: Path

    @property
    def command_database(self) -> Path:
        return self.root / "command.db"

    @property
    def web_database(self) -> Path:
        return self.root / "web.db"

    @property
    def passwords(self) -> Path:
        """What the web UI's users sign in with: JSON, readable by the owner alone."""
        return self.root / "passwords.json"

    def command_environment(self) -> dict[str, str]:
        """For the DAG run in process by `study run`."""
        return {**self._common(), **_database(self.command_database)}

    def web_environment(self, port: int = WEB_PORT) -> dict[str, str]:
        """For Airflow's own UI and scheduler: all of it on loopback, for one machine."""
        url = f"http://{LOOPBACK}:{port}"
        return {
            **self._common(),
            **_database(self.web_database),
            "AIRFLOW__API__HOST": LOOPBACK,
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__EXPOSE_CONFIG": "False",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self.passwords),
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
            # Parsing takes CPU time from what is being measured; the file does not change.
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",
        }

    def _common(self) -> dict[str, str]:
        return {
            "AIRFLOW_HOME": str(self.root),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.project / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__MAX_MAP_LENGTH": str(MAX_STEPS),
            "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(self.root / "logs"),
            "NO_COLOR": "1",  # its console is a log file here
            # Airflow, Spark and Great Expectations are some 3,000 modules: compiled once, not at
            # every start, wherever the user keeps (or forbids) bytecode otherwise.
            "PYTHONPYCACHEPREFIX": str(self.root / "bytecode"),
            "PYTHONDONTWRITEBYTECODE": "",
        }


def project_root() -> Path:
    """The folder this program's packages lie in."""
    return Path(__file__).resolve().parents[2]


def home(environ: Mapping[str, str] = os.environ) -> Home:
    """$AIRFLOW_HOME if the user has one, else .airflow/ in the project."""
    project = project_root()
    given = environ.get("AIRFLOW_HOME")
    return Home(Path(given).absolute() if given else project / ".airflow", project)


def _database(path: Path) -> dict[str, str]:
    return {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{path}"}


def main() -> None:
    """Make the database of `study run`, and the bytecode on the way; nothing to do if it is there."""
    place = home()
    argv = [sys.executable, "-m", "dags.airflow_home.database", str(place.command_database)]
    environment = {**os.environ, **place.command_environment()}
    made = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(f"error: Airflow's database could not be made:\n{made.stderr}")


if __name__ == "__main__":
    main()
