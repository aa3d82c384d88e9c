"""Ctrl-C on a real terminal: `make airflow` takes down the run that it was in the middle of."""

from __future__ import annotations

import os
import pty
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster.state import lease
from cluster.state.tags import tagged
from tests.dag.backend import wait_until
from tests.dag.web import STUDY, Study, Web

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v2-flash testdfsio-write-n2"
# As make does: an ancestor with "airflow" among its words, which waits for the web server.
LIKE_MAKE = ["bash", "-c", '"$@"; exit $?', "airflow"]


class Terminal(Web):
    """Airflow's UI in the foreground of a terminal of its own."""

    def start(self) -> None:
        python = [sys.executable, "-m", "tests.dag.faked", "webserver", "--port", str(self.port)]
        self.out.touch()
        self.exit_code: int | None = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(LIKE_MAKE[0], [*LIKE_MAKE, *python], self.environment)
        self.process = psutil.Process(self.pid)  # type: ignore[assignment]
        threading.Thread(target=self._read, daemon=True).start()

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
                    out.write(os.read(self.master, 4096))
                except OSError:  # the terminal is closed
                    return


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    try:
        made.sign_in()
        wait_until(lambda: made.has(STUDY), 180, "the DAG is read")
        yield made
    finally:
        made.kill()
        wait_until(made.ended, 30, "it is gone")


def test_nothing_of_the_run_is_left_and_the_terminal_shows_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", terminal.environment["DENSITY_STUDY_RUNTIME"])
    study = Study(terminal, "cut")
    study.break_down(**{TRIAL: "sleep 300"})
    terminal.trigger(**study.conf)
    study.reaches(TRIAL)
    tag = study.run.tag
    assert len(tagged(tag)) == 1
    held = lease.holder()
    assert held is not None and held.tag == tag
    family = psutil.Process(terminal.pid).children(recursive=True)
    terminal.family += family

    terminal.press_ctrl_c()
    wait_until(terminal.ended, 60, "it has ended")

    assert terminal.exit_code == 128 + signal.SIGINT
    assert tagged(tag) == []
    assert lease.holder() is None
    _, alive = psutil.wait_procs(family, timeout=10)
    # Nobody waits for the orphans of the scheduler but the machine's init.
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    shown = re.sub(r"\s+", " ", terminal.out.read_text())
    assert f"{tag}: removed" in shown
    assert "the host's lease" in shown
