"""`Home`: folder of the embedded Airflow with its databases and logs, and the environment Airflow needs.

`study setup` creates the database of `study run`, so that the first study does not wait for it. To do so, it
starts this module in Airflow's environment. The web UI has a second database, because a scheduler would
execute the tasks of a running `study run` again if it found them in its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.atomic import locked, write_text
from density_study.cluster.state.plain_file import check_owner
from density_study.cluster.state.settings import setting, user_home

LOOPBACK = "127.0.0.1"
REFRESH_EVERY_S = 45
WEB_PORT = 8080
SCHEDULER_PID = "STUDY_SCHEDULER_PID"
"""Environment variable with the process id of the scheduler started by `make airflow`."""
ONE_PROCESS = "STUDY_ONE_PROCESS"
"""Environment variable that `study run` sets: one process executes all tasks."""
OPEN_RUN = "STUDY_OPEN_RUN"
"""Environment variable with the folder of the run whose DAG `study run` executes."""


@dataclass(frozen=True)
class Home:
    """`root` is AIRFLOW_HOME; `project` is the folder that contains dags/ and workloads/."""

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
        """Passwords of the web UI's users: JSON, readable by the owner only."""
        return self.root / "passwords.json"

    def command_environment(self) -> dict[str, str]:
        """Environment of the DAG that `study run` executes, all its tasks in one process."""
        return {**self._common(self.command_database), ONE_PROCESS: "1"}

    def web_environment(self, port: int = WEB_PORT) -> dict[str, str]:
        """Environment of Airflow's web UI and scheduler; everything listens on loopback."""
        url = f"http://{LOOPBACK}:{port}"
        return {
            **self._common(self.web_database),
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
            # A new or edited study shows up within a minute. Parsing takes CPU time from running trials.
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": str(REFRESH_EVERY_S),
        }

    def _common(self, database: Path) -> dict[str, str]:
        return {
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{database}",
            "AIRFLOW_HOME": str(self.root),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.project / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            # A task reads the DAG file when it starts, perhaps on a host that is measuring.
            "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(self.root / "logs"),
            "NO_COLOR": "1",  # the console is a log file
            **self._bytecode(),
        }

    def _bytecode(self) -> dict[str, str]:
        """Airflow, Spark and Great Expectations have about 3,000 modules. Their byte code is cached even if
        the user's environment forbids it: beside the modules, or here if nobody may write there."""
        beside = os.access(sysconfig.get_path("purelib"), os.W_OK)
        elsewhere = {} if beside else {"PYTHONPYCACHEPREFIX": str(self.root / "bytecode")}
        return {"PYTHONDONTWRITEBYTECODE": "", **elsewhere}


def project_root() -> Path:
    """The folder that contains the packages of this project: the checkout, or site-packages."""
    return Path(__file__).resolve().parents[2]


def base_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where .airflow/ and runs/ are, and where the relative paths of a DAG's parameters begin: the setting
    `home`, else the checkout, else ~/density-study for an installed package."""
    if given := setting("home", environ):
        return Path(given).absolute()
    project = project_root()
    return project if (project / "pyproject.toml").exists() else user_home() / "density-study"


def runs_folder() -> Path:
    """The runs that Airflow carries out and shows: the setting `runs`, else runs/ in the base folder."""
    return base_folder() / (setting("runs") or "runs")


def home(environ: Mapping[str, str] = os.environ) -> Home:
    """.airflow/ in the base folder. In Airflow's own processes, AIRFLOW_HOME names it, as in
    `command_environment`; `study` leaves out the one of the user's shell, which is another Airflow's.
    InputError if other people could put plug-ins into the first one, which Airflow would load."""
    if given := environ.get("AIRFLOW_HOME"):
        return Home(Path(given).absolute(), project_root())
    root = base_folder(environ) / ".airflow"
    check_owner(root, "move it away, or set DENSITY_STUDY_HOME to a folder of your own.")
    return Home(root, project_root())


def migrate_once(database: Path, environment: Mapping[str, str]) -> None:
    """Create or upgrade `database`, unless this version of Airflow has already done so. `environment` names
    the database to Airflow. StudyError with Airflow's message if that fails."""
    installed = version("apache-airflow")  # importing Airflow for this takes seconds
    ready = database.with_suffix(".ready")
    if database.exists() and ready.exists() and ready.read_text() == installed:
        return
    with locked(ready.with_suffix(".lock")):  # serialises two concurrent first runs
        migrated = subprocess.run(
            [sys.executable, "-m", "airflow", "db", "migrate"],
            env={**os.environ, **environment}, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if migrated.returncode:
            raise StudyError(
                f"Airflow could not create its database: {migrated.stderr.strip()}",
                str(database),
                "remove the file, unless another version of Airflow uses it, and try again.",
            )
        write_text(ready, installed)


def create_command_database() -> None:
    """Create the database of `study run` if it does not exist; this also fills the bytecode cache."""
    place = home()
    place.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    migrate_once(place.command_database, place.command_environment())
