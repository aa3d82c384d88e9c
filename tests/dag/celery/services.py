"""PostgreSQL and Redis from Debian's packages: private instances on loopback, inside a `Machine`.

Their files are in memory, mounted in the machine alone, and vanish with it.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.dag.backend import wait_until
from tests.dag.celery.machine import Machine, Unit

_DATA = "/var/lib/postgresql"
"""Hidden below the mount: the data of the system's own instance."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Postgres:
    """initdb refuses root: it runs as the package's user."""

    def __init__(self, machine: Machine, logs: Path) -> None:
        self.port = free_port()
        self.address = f"airflow@127.0.0.1:{self.port}/postgres"
        newest = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[4]))
        user = _as("postgres")
        machine.run("mount", "-t", "tmpfs", "-o", "mode=755,size=1g", "tmpfs", _DATA)
        machine.run("chown", "postgres:", _DATA)
        machine.run(*user, f"{newest}/initdb", "-D", f"{_DATA}/data", "-U", "airflow",
                    "--auth", "trust", "--no-sync")  # fmt: skip
        argv = [*user, f"{newest}/postgres", "-D", f"{_DATA}/data", "-p", str(self.port),
                "-c", "listen_addresses=127.0.0.1", "-k", _DATA, "-c", "fsync=off"]  # fmt: skip
        self._unit = machine.unit(argv, os.environ, logs / "postgres.log")
        self.wait_ready()

    def wait_ready(self) -> None:
        wait_until(lambda: answers(self.port), 60, "PostgreSQL answers")

    def stop(self) -> None:
        """Like the loss of its machine."""
        self._unit.kill()
        wait_until(lambda: not answers(self.port), 30, "PostgreSQL is gone")

    def start(self) -> None:
        self._unit.start()
        self.wait_ready()


class Redis:
    def __init__(self, machine: Machine, logs: Path) -> None:
        port = free_port()
        self.address = f"redis://127.0.0.1:{port}/0"
        argv = [*_as("nobody"), "redis-server", "--port", str(port), "--bind", "127.0.0.1",
                "--save", "", "--appendonly", "no", "--dir", "/"]  # fmt: skip
        self._unit: Unit = machine.unit(argv, os.environ, logs / "redis.log")
        wait_until(lambda: answers(port), 60, "Redis answers")


def _as(user: str) -> list[str]:
    return ["setpriv", f"--reuid={user}", "--regid=65534" if user == "nobody" else f"--regid={user}",
            "--clear-groups", "--"]  # fmt: skip
