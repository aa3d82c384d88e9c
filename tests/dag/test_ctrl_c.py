"""Ctrl-C on a real terminal: `make airflow` tears down the run in progress and stops all its processes."""

from __future__ import annotations

import os
import pty
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from density_study.cluster.state import lease
from density_study.cluster.state.tags import tagged
from density_study.dags.run_status.status import status_of
from tests.dag.backend import SMALL, wait_until
from tests.dag.web import Study, Web

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v2-flash testdfsio-write-n2"
# Like make: an ancestor with "airflow" among its arguments, which waits for the web server.
LIKE_MAKE = ["bash", "-c", '"$@"; exit $?', "airflow"]


class Terminal(Web):
    """Airflow's UI in the foreground of its own terminal."""

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
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "cut.yaml").write_text(SMALL.replace("study: small", "study: cut"))
    opened = Terminal(tmp_path)
    try:
        opened.sign_in()
        wait_until(lambda: "study_cut" in opened.dags(), 300, "the DAG is read")
        yield opened
    finally:
        opened.kill()
        wait_until(opened.ended, 30, "it is gone")


@pytest.mark.slow
def test_ctrl_c_tears_down_the_run_and_reports_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", terminal.environment["DENSITY_STUDY_RUNTIME"])
    assert (terminal.folder / "airflow").stat().st_mode & 0o777 == 0o700, "it made this folder"
    study = Study(terminal, "cut")
    study.break_down(**{TRIAL: "sleep 300"})
    run_id = study.trigger()
    study.reaches(TRIAL)
    tag = study.run.tag
    wait_until(lambda: len(tagged(tag)) == 1, 30, "its client runs")
    lease_before = lease.holder()
    assert lease_before is not None and lease_before.tag == tag
    family = psutil.Process(terminal.pid).children(recursive=True)
    assert len(family) >= 4, "the web server and three components"
    terminal.family += family
    pressed = datetime.now(UTC)

    terminal.press_ctrl_c()
    wait_until(terminal.ended, 200, "it has ended")

    assert terminal.exit_code == 128 + signal.SIGINT
    assert tagged(tag) == []
    assert lease.holder() is None
    _, alive = psutil.wait_procs(family, timeout=10)
    # Only the machine's init waits for the scheduler's orphans.
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
    assert f"stopped   study_cut {run_id}" in terminal.out.read_text()
    assert study.nothing_stands()
    assert status_of(study.run).stopped, "it can be resumed"
    check_database(terminal, run_id, pressed)


def check_database(terminal: Terminal, run_id: str, pressed: datetime) -> None:
    """Airflow itself knows that the run has ended, and when; no task is left without its end."""
    with sqlite3.connect(terminal.folder / "airflow" / "web.db") as database:
        [(state, ended)] = database.execute(
            "select state, end_date from dag_run where run_id = ?", (run_id,)
        ).fetchall()
        tasks = database.execute(
            "select state, start_date, end_date, duration from task_instance where run_id = ?",
            (run_id,),
        ).fetchall()
    assert state == "failed"
    ended = datetime.fromisoformat(ended).replace(tzinfo=UTC)
    assert pressed < ended < pressed + timedelta(seconds=200)
    assert {state for state, *_ in tasks} == {"success", "failed", "skipped"}
    begun = [task for task in tasks if task[1]]
    assert [task for task in begun if task[2] is None or task[3] is None] == []
