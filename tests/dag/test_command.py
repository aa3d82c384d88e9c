"""`study run` as a user starts it, on the simulated backend: ends, interrupts, kills."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from density_study.cluster.state.tags import tagged
from density_study.dags.airflow_home.home import project_root
from density_study.workloads.execution.run import Run, has_ended, load_run
from density_study.workloads.record.record import closed_records
from tests.dag.backend import SMALL, break_down, expected_order, order, wait_until
from tests.dag.furnished import furnish

pytestmark = pytest.mark.dag
TRIAL = "trial b1-v1-flash testdfsio-write-n2"


@pytest.fixture(scope="module")
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnish(tmp_path_factory.mktemp("command") / "airflow")


class Command:
    """`study run small.yaml` in a folder of its own."""

    def __init__(self, folder: Path, airflow_home: Path) -> None:
        self.folder = folder
        (folder / "small.yaml").write_text(SMALL)
        root = str(project_root())
        self.environment = {
            **os.environ,
            "AIRFLOW_HOME": str(airflow_home),
            "DENSITY_STUDY_RUNTIME": str(folder / "runtime"),
            "PYTHONPATH": root,
        }
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "tests.dag.faked", "study", "run", "small.yaml", *arguments]
        process = subprocess.Popen(
            argv, cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process

    @property
    def run(self) -> Run:
        return load_run(max((self.folder / "runs" / "small").glob("*Z")))

    def reaches(self, label: str) -> None:
        """Waits until the step has begun."""

        def has_begun() -> bool:
            logs = list(self.folder.glob("runs/small/*/order.log"))
            return any(label in log.read_text() for log in logs)

        wait_until(has_begun, 120, f"{label} begins")

    def nothing_left(self) -> bool:
        return not tagged(self.run.tag)


@pytest.fixture
def command(tmp_path: Path, airflow_home: Path) -> Iterator[Command]:
    command = Command(tmp_path, airflow_home)
    yield command
    for process in command.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    for process in tagged(command.run.tag):  # of a test that failed half-way
        psutil.Process(process.pid).kill()


@pytest.mark.slow
def test_success_runs_the_plan_and_exits_0(command: Command) -> None:
    process = command.start()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert order(command.run.root) == expected_order(command.run)
    assert re.search(rf"step 2/8: {TRIAL} in \d+ s", out)
    assert "left" in out
    assert "DagRun Finished" in (command.run.root / "airflow.log").read_text()
    assert "DagRun" not in out + err
    assert has_ended(command.run)
    assert command.nothing_left()
    assert "Traceback" not in out + err


@pytest.mark.slow
def test_a_failed_step_exits_1_and_is_named_with_its_reason(command: Command) -> None:
    break_down(command.folder / "runs" / "small", {TRIAL: "fail"})
    process = command.start()
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"failed   {TRIAL}: {TRIAL}: as faults.json says" in out
    assert "airflow.log" in out


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupt_leaves_only_an_incomplete_record(
    command: Command, number: signal.Signals
) -> None:
    break_down(command.folder / "runs" / "small", {TRIAL: "sleep 60"})
    process = command.start()
    command.reaches(TRIAL)
    wait_until(lambda: len(tagged(command.run.tag)) >= 2, 10, "its client runs")
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number, err
    assert command.nothing_left()
    assert not list(command.run.root.glob("builds/*/standing"))
    [record] = closed_records(command.run.records).values()
    assert record.state == "incomplete"
    assert record.reasons == (f"the run was interrupted ({number.name})",)
    assert not has_ended(command.run)
    assert "Traceback" not in err
    if number == signal.SIGTERM:
        is_resumed(command)


def is_resumed(command: Command) -> None:
    first, before = command.run.id, len(order(command.run.root))
    break_down(command.folder / "runs" / "small", {})
    again = command.start()
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, out + err
    assert command.run.id == first
    assert order(command.run.root)[before:] == expected_order(command.run)


@pytest.mark.slow
def test_the_child_ends_when_the_command_is_killed(command: Command) -> None:
    """Within a second or two; the workload's client stays, for `study reap`."""
    break_down(command.folder / "runs" / "small", {TRIAL: "sleep 60"})
    process = command.start()
    command.reaches(TRIAL)
    children = psutil.Process(process.pid).children()
    assert len(children) == 1
    process.kill()
    process.communicate()
    wait_until(lambda: not children[0].is_running() or _is_zombie(children[0]), 3, "it ends")
    assert {process.name for process in tagged(command.run.tag)} == {"sleep"}

    reap = [sys.executable, "-m", "tests.dag.faked", "study", "reap"]
    reaped = subprocess.run(
        reap,
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "sleep" in reaped.stdout
    assert "incomplete" in reaped.stdout
    assert command.nothing_left()


@pytest.mark.slow
def test_a_child_that_dies_fails_the_run_and_leaves_no_process(command: Command) -> None:
    break_down(command.folder / "runs" / "small", {TRIAL: "die"})
    process = command.start()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "its process ended with exit code 9" in out
    assert not list(command.run.root.glob("builds/*/standing"))
    [record] = closed_records(command.run.records).values()
    assert record.state == "incomplete"


def test_bad_input_exits_2_and_starts_nothing(tmp_path: Path, airflow_home: Path) -> None:
    command = Command(tmp_path, airflow_home)
    (tmp_path / "small.yaml").write_text(SMALL + "seeds: 3\n")
    process = command.start()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("error: small.yaml:7, key seeds: unknown key 'seeds'.")
    assert "remedy:" in err
    assert "Traceback" not in err
    assert not (tmp_path / "runs").exists()


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
