"""`python -m dags.web.webserver`: Airflow's own web UI and scheduler with this project's DAG, on loopback.

For one person on one machine: SQLite, LocalExecutor, one user whose password is generated. Ctrl-C
stops all of it, and takes down what a run had standing.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated
from urllib.error import URLError
from urllib.request import urlopen

import typer
from rich.console import Console

from cluster.model.errors import InputError, StudyError
from cluster.state.atomic import write_text
from dags.airflow_home.child import Child, python
from dags.airflow_home.home import LOOPBACK, WEB_PORT, Home, home
from dags.airflow_home.interrupt import Interrupted, interruptible
from dags.web.component import PREPARE

USER = "admin"
# --skip-serve-logs: that server binds every address, and the UI reads the files beside it anyway.
COMPONENTS = {
    "api-server": ["api-server"],
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
}
_READY_WITHIN_S = 120.0
_GRACE_S = 8.0

out = Console(highlight=False)


def serve(port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = WEB_PORT) -> None:
    """Start Airflow's web UI with the DAG density_study; Ctrl-C stops it."""
    check_free(port)
    place = home()
    place.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    password = password_of(place)
    with interruptible(), _components(place, port) as components:
        _wait_ready(port, components)
        out.print(f"Airflow   http://{LOOPBACK}:{port}/dags/density_study", markup=False)
        out.print(f"user      {USER}", markup=False)
        out.print(f"password  {password}", markup=False)
        out.print("Ctrl-C stops it.")
        while True:
            _check_alive(components)
            time.sleep(1.0)


def check_free(port: int) -> None:
    """InputError if something listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used: {error.strerror}.",
                f"{LOOPBACK}:{port}",
                "stop what listens there, or choose another: python -m dags.web.webserver --port 8081.",
            ) from error


def password_of(place: Home) -> str:
    """The user's password: generated once, kept in a file only its owner can read."""
    if not place.passwords.exists():
        text = json.dumps({USER: secrets.token_urlsafe(12)}) + "\n"
        write_text(place.passwords, text, mode=0o600)
    password: str = json.loads(place.passwords.read_text(encoding="utf-8"))[USER]
    return password


@contextmanager
def _components(place: Home, port: int) -> Iterator[dict[str, Child]]:
    """Airflow's processes. On the way out all are gone, and so is what a run had standing."""
    environment = {
        **place.web_environment(port),
        # Shared by the components, new with every start.
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(32),
        "AIRFLOW__API__SECRET_KEY": secrets.token_urlsafe(32),
    }
    logs = place.root / "logs"
    logs.mkdir(exist_ok=True)
    with ExitStack() as stack:
        _reap(place)  # of a last time that could not end as this one will
        stack.callback(_reap, place)
        preparation = logs / f"{PREPARE}.log"
        with Child(python("dags.web.component", PREPARE), environment, preparation) as child:
            if code := child.wait(_READY_WITHIN_S):
                raise _ended(PREPARE, code, preparation)
        components: dict[str, Child] = {}
        stack.callback(_stop, components)
        for name, argv in COMPONENTS.items():
            log = logs / f"{name}.log"
            components[name] = Child(python("dags.web.component", *argv), environment, log)
        yield components


def _stop(components: dict[str, Child]) -> None:
    """All are asked at once. A scheduler would wait for its running task: it is not waited for."""
    for child in components.values():
        child.cut()
    deadline = time.monotonic() + _GRACE_S
    for child in components.values():
        child.end(max(0.0, deadline - time.monotonic()))


def _reap(place: Home) -> None:
    """In the project's runs folder, and in that of the run that holds this machine."""
    from cluster.state import lease
    from dags.stages import study_stages

    held = lease.holder()
    folders = {place.project / "runs", *([held.root.parents[1]] if held else [])}
    for runs in sorted(folders):
        swept = study_stages.reap(runs, False)
        for one in (*swept.reaped, *swept.left_alone):
            out.print(str(one), markup=False, soft_wrap=True)


def _wait_ready(port: int, components: dict[str, Child]) -> None:
    """Until the UI answers and scheduler and dag-processor have given a sign of life."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while not _is_healthy(port):
        _check_alive(components)
        if time.monotonic() > deadline:
            raise StudyError(
                f"Airflow was not ready within {_READY_WITHIN_S:.0f} s.",
                str(home().root / "logs"),
                "see the logs of its components there.",
            )
        time.sleep(0.5)


def _is_healthy(port: int) -> bool:
    try:
        with urlopen(f"http://{LOOPBACK}:{port}/api/v2/monitor/health", timeout=5) as answer:
            health = json.load(answer)
    except (URLError, OSError, ValueError):
        return False
    return all(health[name]["status"] == "healthy" for name in ("scheduler", "dag_processor"))


def _check_alive(components: dict[str, Child]) -> None:
    for name, child in components.items():
        code = child.wait(0)
        if code is not None:
            raise _ended(name, code, home().root / "logs" / f"{name}.log")


def _ended(name: str, code: int, log: Path) -> StudyError:
    return StudyError(
        f"Airflow's {name} ended with exit code {code}.", str(log), "see the end of that log."
    )


def main() -> None:
    try:
        typer.run(serve)
    except StudyError as error:
        Console(stderr=True).print(f"error: {error}", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except Interrupted as interrupted:
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
