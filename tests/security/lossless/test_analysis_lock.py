"""Two analyses of one run: the second waits and says for whom; a killed one blocks nobody."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Barrier, Thread

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.file_fault import as_study_errors
from density_study.jobs import pipeline
from density_study.jobs.analysis_lock import LOCK, analysing

HOLDS = """
import sys, time
from pathlib import Path
from density_study.jobs.analysis_lock import analysing
with analysing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_task_and_a_report_never_work_on_one_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[str] = []
    done: list[str] = []

    def stage(run_root: Path, _: Path) -> None:
        inside.append("x")
        assert len(inside) == 1
        time.sleep(0.02)
        done.append("x")
        inside.pop()

    monkeypatch.setattr(pipeline, "STAGES", {"ingest": stage, "metrics": stage})
    monkeypatch.setattr(pipeline, "prepare", lambda: None)
    start = Barrier(3)

    def work(analyse: bool) -> None:
        start.wait()
        if analyse:
            pipeline.analyse(tmp_path)
        else:
            pipeline.run_stage("metrics", tmp_path)

    threads = [Thread(target=work, args=(analyse,)) for analyse in (True, True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 5


def test_who_waits_says_for_whom_and_a_killed_analysis_blocks_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    waited: list[float] = []

    def wait() -> None:
        with analysing(tmp_path):
            waited.append(time.monotonic())

    with (
        subprocess.Popen(
            [sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process,
        caplog.at_level(logging.WARNING),
    ):
        assert process.stdout is not None
        process.stdout.readline()
        second = Thread(target=wait)
        second.start()
        deadline = time.monotonic() + 10
        while not caplog.records and time.monotonic() < deadline:
            time.sleep(0.01)
        assert f"process {process.pid} on " in caplog.text
        assert not waited
        process.kill()
        second.join(10)
    assert waited
    with analysing(tmp_path):
        assert f"process {os.getpid()} on " in (tmp_path / LOCK).read_text()


@pytest.mark.parametrize("kind", ["link", "FIFO", "folder"])
def test_a_lock_that_is_no_file_is_an_error(kind: str, tmp_path: Path) -> None:
    victim, lock = tmp_path / "victim", tmp_path / LOCK
    victim.write_text("theirs")
    {
        "link": lambda: lock.symlink_to(victim),
        "FIFO": lambda: os.mkfifo(lock),
        "folder": lock.mkdir,
    }[kind]()
    with pytest.raises(StudyError, match=LOCK), as_study_errors(), analysing(tmp_path):
        pass
    assert victim.read_text() == "theirs"
