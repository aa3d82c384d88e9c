"""`study airflow`: Airflow's web UI and scheduler with this project's DAGs, on loopback.

For one user on one machine: SQLite, LocalExecutor, one account with a generated password. Ctrl-C stops
everything and tears down the clusters of running studies.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import requests
import typer

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.atomic import write_text
from density_study.dags.airflow_home.child import Child, python
from density_study.dags.airflow_home.home import (
    LOOPBACK,
    WEB_PORT,
    Home,
    home,
    migrate_once,
    runs_folder,
)
from density_study.dags.airflow_home.interrupt import Interrupted, interruptible
from density_study.dags.run_status.plain_console import PlainConsole
from density_study.dags.web import rest
from density_study.dags.web.results import PREFIX

USER = "admin"
# --skip-serve-logs: that server binds to all addresses, and the UI reads the local log files anyway.
COMPONENTS = {
    "api-server": ["api-server"],
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
}
_READY_WITHIN_S = 120.0
_TORN_DOWN_WITHIN_S = 90.0
_GRACE_S = 8.0

out = PlainConsole()


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = WEB_PORT,
) -> None:
    """Start Airflow's web UI and scheduler with this project's DAGs. Ctrl-C stops them."""
    check_free(port)
    place = home()
    place.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    password = password_of(place)
    started = datetime.now(UTC)
    with interruptible(), _components(place, port) as components:
        _wait_ready(port, components)
        _stop_dag_runs(
            port, password, before=started
        )  # those of an earlier web server that was killed
        out.print(f"Airflow   http://{LOOPBACK}:{port}")
        out.print(f"results   http://{LOOPBACK}:{port}/{PREFIX}/")
        out.print(f"user      {USER}")
        out.print(f"password  {password}")
        out.print("Press Ctrl-C to stop.")
        while True:
            _check_alive(components)
            time.sleep(1.0)


def check_free(port: int) -> None:
    """InputError if the port is in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used: {error.strerror}.",
                f"{LOOPBACK}:{port}",
                "stop the process that uses it, or choose another port: study airflow --port 8081.",
            ) from error


def password_of(place: Home) -> str:
    """The user's password, generated once and stored in a file that only its owner can read. Airflow also
    writes to it, and a full disk leaves it empty: then InputError."""
    if not place.passwords.exists():
        text = json.dumps({USER: secrets.token_urlsafe(12)}) + "\n"
        write_text(place.passwords, text, mode=0o600)
    try:
        password: str = json.loads(place.passwords.read_text(encoding="utf-8"))[USER]
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"the file does not hold the password of {USER}.",
            str(place.passwords),
            "remove it: the next start makes another password.",
        ) from error
    return password


@contextmanager
def _components(place: Home, port: int) -> Iterator[dict[str, Child]]:
    """Airflow's processes. On exit, they are stopped and running clusters are torn down."""
    environment = {
        **place.web_environment(port),
        # Shared by the components, and new at every start.
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(32),
        "AIRFLOW__API__SECRET_KEY": secrets.token_urlsafe(32),
    }
    logs = place.root / "logs"
    logs.mkdir(exist_ok=True)
    with ExitStack() as stack:
        _reap()  # leftovers of an earlier web server that was killed
        stack.callback(_reap)
        migrate_once(place.web_database, environment)
        components: dict[str, Child] = {}
        stack.callback(_stop, components)
        stack.callback(_stop_dag_runs, port, password_of(place))
        for name, argv in COMPONENTS.items():
            log = logs / f"{name}.log"
            components[name] = Child(
                python("density_study.dags.web.component", *argv), environment, log
            )
        yield components


def _stop(components: dict[str, Child]) -> None:
    """Stop all components at once. A scheduler waits for its running task, so kill it after a grace time."""
    for child in components.values():
        child.cut()
    deadline = time.monotonic() + _GRACE_S
    for child in components.values():
        child.end(max(0.0, deadline - time.monotonic()))


def _stop_dag_runs(port: int, password: str, before: datetime | None = None) -> None:
    """Mark unfinished DAG runs failed, so that Airflow itself takes their clusters down and records when they
    ended. Their studies are not lost: trigger one again to resume it. `before`: only runs as old as that."""
    try:
        session = rest.Session(f"http://{LOOPBACK}:{port}", USER, password)
        for name in session.stop_dag_runs(before or datetime.now(UTC), _TORN_DOWN_WITHIN_S):
            out.print(f"stopped   {name}")
    except requests.RequestException:
        return  # Airflow does not run, or not yet; `_reap` takes down what stands


def _reap() -> None:
    """Reap the folder of runs, and the folder of the run that holds the lease of this machine. What fails is
    printed: one damaged run keeps nobody from Airflow."""
    from density_study.cluster.state import lease
    from density_study.dags.stages import study_stages

    held = lease.holder()
    folders = {runs_folder(), *([held.root.parents[1]] if held else [])}
    for runs in sorted(folders):
        swept = study_stages.reap(runs, False)
        for run in (*swept.abandoned, *swept.reaped, *swept.left_alone, *swept.failed):
            out.print(str(run))


def _wait_ready(port: int, components: dict[str, Child]) -> None:
    """Wait until the UI answers and the scheduler and dag-processor are healthy."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while not _is_healthy(rest.health(f"http://{LOOPBACK}:{port}")):
        _check_alive(components)
        if time.monotonic() > deadline:
            raise StudyError(
                f"Airflow is not ready after {_READY_WITHIN_S:.0f} s.",
                str(home().root / "logs"),
                "see the logs of its components in this folder.",
            )
        time.sleep(0.5)


def _is_healthy(health: Mapping[str, Any]) -> bool:
    components = ("scheduler", "dag_processor")
    return all(health.get(name, {}).get("status") == "healthy" for name in components)


def _check_alive(components: dict[str, Child]) -> None:
    for name, child in components.items():
        code = child.wait(0)
        if code is not None:
            raise _ended(name, code, home().root / "logs" / f"{name}.log")


def _ended(name: str, code: int, log: Path) -> StudyError:
    return StudyError(
        f"Airflow's {name} ended with exit code {code}.", str(log), "see the end of this log."
    )


def main() -> None:
    try:
        typer.run(serve)
    except StudyError as error:
        PlainConsole(stderr=True).print(f"error: {error}")
        sys.exit(error.exit_code)
    except Interrupted as interrupted:
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
