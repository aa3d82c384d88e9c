"""`study run`, `study notify` and the scheduled DAG tell real receivers; faults change no outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.state.events import Notified
from density_study.dags.airflow_home.home import project_root
from density_study.workloads.execution.run import load_run
from tests.dag.backend import SMALL, break_down
from tests.dag.furnished import furnish
from tests.support.receivers import Hook, serving

pytestmark = pytest.mark.dag
SECRET = "/services/T0-2718281828/B0-2718281828"
NOTIFY = "notify: [{webhook: bad}, {webhook: good}]\n"


@pytest.fixture
def hook() -> Iterator[Hook]:
    with serving(Hook()) as server:
        yield server


@pytest.fixture
def bad() -> Iterator[Hook]:
    with serving(Hook(500)) as server:
        yield server


class Lab:
    """The command `study` on the simulated backend, with two receivers: one that works, one that fails."""

    def __init__(self, folder: Path, hook: Hook, bad: Hook) -> None:
        self.folder, self.runs = folder, folder / "runs"
        self.spec = folder / "small.yaml"
        self.spec.write_text(SMALL + NOTIFY)
        self.environment = {
            **os.environ,
            "AIRFLOW_HOME": str(furnish(folder / "airflow")),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": str(project_root()),
            "NO_PROXY": "127.0.0.1",
            "AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG",  # at which urllib3 logs paths
            "AIRFLOW_CONN_GOOD": hook.address + SECRET,
            "AIRFLOW_CONN_BAD": bad.address + SECRET,
        }

    def study(self, *arguments: str, **faults: str) -> subprocess.CompletedProcess[str]:
        break_down(self.runs / "small", faults)
        argv = [sys.executable, "-m", "tests.dag.faked", "study", *arguments]
        return subprocess.run(
            argv, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )

    def run(self, **faults: str) -> subprocess.CompletedProcess[str]:
        return self.study("run", str(self.spec), "--runs", str(self.runs), **faults)

    @property
    def root(self) -> Path:
        return max((self.runs / "small").glob("*Z"))

    def written(self) -> str:
        """Everything that was written below the folder, as text; without the databases."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return "".join(path.read_text(errors="replace") for path in files if ".db" not in path.name)


@pytest.fixture
def lab(tmp_path: Path, hook: Hook, bad: Hook) -> Lab:
    return Lab(tmp_path, hook, bad)


@pytest.mark.slow
def test_study_run_tells_a_failure_and_then_the_recovery(lab: Lab, hook: Hook, bad: Hook) -> None:
    good = "trial b1-v1-flash testdfsio-write-n2"
    failed = lab.run(**{good: "fail"})
    assert failed.returncode == 1
    (body,) = hook.bodies
    assert body["event"] == "failure" and body["run"] == lab.root.name
    assert "testdfsio-write-n2" in body["headline"]
    assert len(bad.bodies) == 1
    assert "not notified  web hook bad: the receiver answered 500" in failed.stdout
    (event,) = load_run(lab.root).journal.events(Notified)
    assert event.faults == ("web hook bad: the receiver answered 500 Internal Server Error",)

    fine = lab.run()
    assert fine.returncode == 0, "a receiver that fails does not change the outcome"
    assert [body["event"] for body in hook.bodies] == ["failure", "recovery"]
    assert (
        "2718281828"
        not in lab.written() + failed.stdout + failed.stderr + fine.stdout + fine.stderr
    )


@pytest.mark.slow
def test_a_run_whose_process_was_killed_is_told_by_its_parent(lab: Lab, hook: Hook) -> None:
    killed = lab.run(**{"trial b1-v1-flash testdfsio-write-n2": "die"})
    assert killed.returncode == 1
    (body,) = hook.bodies
    assert body["event"] == "failure"
    assert "its process ended with exit code 9" in body["headline"]
    assert "2718281828" not in lab.written()


def test_study_notify_sends_a_test_to_each_receiver(lab: Lab, hook: Hook, bad: Hook) -> None:
    ended = lab.study("notify", str(lab.spec))
    assert ended.returncode == 1
    assert "failed   web hook bad: the receiver answered 500" in ended.stdout
    assert "sent     web hook good" in ended.stdout
    assert hook.bodies[0]["event"] == "test" and len(bad.bodies) == 1
    assert "2718281828" not in lab.written() + ended.stdout + ended.stderr
    as_json = json.loads(lab.study("notify", str(lab.spec), "--json").stdout)
    assert [row["fault"] == "" for row in as_json] == [False, True]


def test_study_notify_refuses_a_study_without_receivers(lab: Lab) -> None:
    lab.spec.write_text(SMALL)
    ended = lab.study("notify", str(lab.spec))
    assert ended.returncode == 2 and "the study names no receiver" in ended.stderr


@pytest.mark.slow
def test_nothing_is_started_for_a_study_without_receivers(lab: Lab, hook: Hook) -> None:
    lab.spec.write_text(SMALL)
    assert lab.run(**{"trial b1-v1-flash testdfsio-write-n2": "fail"}).returncode == 1
    assert hook.bodies == []
    assert load_run(lab.root).journal.events(Notified) == []
