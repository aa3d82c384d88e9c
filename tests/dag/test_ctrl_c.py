"""Ctrl-C on a real terminal: `make airflow` takes down the run that it was in the middle of."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster import lease
from cluster.marks import marked
from dags.home import project_root
from tests.dag.backend import wait_until
from tests.dag.test_webserver import TRIAL, Web, break_down, spec
from workloads.run import load_run

pytestmark = pytest.mark.dag
# As make does: an ancestor with "airflow" among its words, which waits for the web server.
LIKE_MAKE = ["bash", "-c", '"$@"; exit $?', "airflow"]


class Terminal(Web):
    """Airflow's UI in the foreground of a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.out = folder / "out"
        self.out.touch()
        environment = {
            **os.environ,
            "AIRFLOW_HOME": str(folder / "airflow"),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": str(project_root()),
        }
        python = [sys.executable, "-m", "tests.dag.faked", "webserver", "--port", str(self.port)]
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(LIKE_MAKE[0], [*LIKE_MAKE, *python], environment)
        self.family: list[psutil.Process] = []
        self.token = ""
        self.exit_code: int | None = None
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    @property
    def process(self) -> psutil.Process:  # type: ignore[override]
        return psutil.Process(self.pid)

    def press_ctrl_c(self) -> None:
        os.write(self.master, b"\x03")

    def ended(self) -> bool:
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code is not None

    def _read(self) -> None:
        with self.out.open("ab", buffering=0) as out:
            while True:
                try:
                    read = os.read(self.master, 4096)
                except OSError:  # the terminal is closed
                    return
                out.write(read)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    try:
        made.sign_in()
        yield made
    finally:
        for process in made.family:
            if process.is_running():
                process.kill()
        if not made.ended():
            os.kill(made.pid, signal.SIGKILL)
            os.waitpid(made.pid, 0)


def test_nothing_of_the_run_is_left_and_the_terminal_says_so(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(terminal.folder / "runtime"))
    conf = spec(terminal, "cut")
    runs = Path(conf["runs"])
    break_down(runs, {TRIAL: "sleep 300"})
    terminal.trigger(**conf)
    wait_until(
        lambda: any(TRIAL in log.read_text() for log in runs.glob("small/*/order.log")),
        120,
        "the trial begins",
    )
    run = load_run(next(runs.glob("small/*/journal.jsonl")).parent)
    assert len(marked(run.mark)) == 1
    held = lease.holder()
    assert held is not None and held.mark == run.mark
    terminal.family = psutil.Process(terminal.pid).children(recursive=True)

    terminal.press_ctrl_c()
    wait_until(terminal.ended, 60, "it has ended")

    assert terminal.exit_code == 128 + signal.SIGINT
    assert marked(run.mark) == []
    assert lease.holder() is None
    _, alive = psutil.wait_procs(terminal.family, timeout=10)
    # Nobody waits for the orphans of the scheduler but the machine's init.
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    said = re.sub(r"\s+", " ", terminal.out.read_text())
    assert f"{run.mark}: removed" in said
    assert "the host's lease" in said
