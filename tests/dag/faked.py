"""`python -m tests.dag.faked study|webserver ...`: the user's commands, on the simulated
backend."""

from __future__ import annotations

import sys
from pathlib import Path

from density_study.dags.airflow_home import home
from tests.dag import backend

REFRESH_EVERY_S = 15
"""Less than in the project, because tests of edited studies wait for it."""


class FakedHome(home.Home):
    """Like the project's, but Airflow's own processes find the DAG that installs the backend."""

    def web_environment(self, port: int = home.WEB_PORT) -> dict[str, str]:
        folder = Path(__file__).with_name("dagfolder")
        return {
            **super().web_environment(port),
            "AIRFLOW__CORE__DAGS_FOLDER": str(folder),
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": str(REFRESH_EVERY_S),
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.1",  # between two tasks
        }


def main() -> None:
    backend.install()
    program, *arguments = sys.argv[1:]
    sys.argv = [program, *arguments]
    {"study": _study, "inprocess": _in_process, "webserver": _webserver}[program]()


def _study() -> None:
    from density_study.dags.cli import carry_out
    from density_study.dags.cli.main import main as study

    real = carry_out.python
    carry_out.python = lambda module, *rest: (
        real("tests.dag.faked", "inprocess", *rest)
        if module == "density_study.dags.inprocess"
        else real(module, *rest)
    )
    study()


def _in_process() -> None:
    from density_study.dags.inprocess import main as run_in_process

    sys.exit(run_in_process(sys.argv[1]))


def _webserver() -> None:
    from density_study.dags.web import webserver

    place = home.home()
    webserver.home = lambda: FakedHome(place.root, place.project)
    webserver.main()


if __name__ == "__main__":
    main()
