"""`study up`, `study shell` and `study down` on real daemons."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.state.events import Event, kept_in
from density_study.cluster.state.journal import Journal
from tests.live.support.command import SPEC, left_of, study, study_run, wait_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    """Whatever the test does, no cluster is left."""
    yield tmp_path
    study("down", runs=tmp_path)
    study("reap", "--runs", str(tmp_path), runs=tmp_path)


def up(runs: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return study("up", str(SPEC), "--runs", str(runs), *options, runs=runs)


def run_of(runs: Path) -> Path:
    (root,) = runs.glob("live-small-up/*Z")
    return root


def keeper(run: Path) -> int:
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return int(next(line["owner"]["pid"] for line in lines if line["event"] == "run-opened"))


def shell(runs: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return study("shell", "--", *command, runs=runs)


def test_a_kept_cluster_is_used_and_taken_down(runs: Path) -> None:
    built = up(runs)
    assert built.returncode == 0, built.stdout + built.stderr
    run = run_of(runs)
    assert "study shell" in built.stdout and "http://127.0.0.1:" in built.stdout
    assert left_of(run) != []

    status = study("status", "--runs", str(runs), "--json", runs=runs)
    assert json.loads(status.stdout)["state"] == "running"
    shown = study("status", "--runs", str(runs), runs=runs).stdout
    assert "b1-v2-flash, until " in shown or "b1-v1-flash, until " in shown, shown
    refused = study("run", str(SPEC), "--runs", str(runs), runs=runs)
    assert (refused.returncode, "study down" in refused.stderr) == (2, True), refused.stderr
    assert study("reap", "--runs", str(runs), runs=runs).stdout.strip() == "Nothing to remove."

    (runs / "greeting").write_text("hello\n")
    assert shell(runs, "hdfs", "dfs", "-put", str(runs / "greeting"), "/greeting").returncode == 0
    read = shell(runs, "hadoop", "fs", "-cat", "/greeting")
    assert (read.returncode, read.stdout) == (0, "hello\n"), read.stderr
    nodes = shell(runs, "yarn", "node", "-list")
    assert "RUNNING" in nodes.stdout, nodes.stdout + nodes.stderr
    assert shell(runs, "hbase", "version").returncode == 0
    assert shell(runs, "sh", "-c", "exit 7").returncode == 7
    unknown = shell(runs, "hdfs", "nonsense")
    assert (unknown.returncode, "usage" in unknown.stderr) == (2, True)

    down = study("down", runs=runs)
    assert down.returncode == 0, down.stderr
    assert left_of(run) == []
    assert study("down", runs=runs).stdout.strip() == "No cluster is kept."
    assert study("shell", "--", "true", runs=runs).returncode == 2


def test_a_killed_keeper_leaves_what_reap_removes(runs: Path) -> None:
    assert up(runs).returncode == 0
    run = run_of(runs)
    os.kill(keeper(run), signal.SIGKILL)
    assert left_of(run) != []
    refused = study("down", runs=runs)
    assert (refused.returncode, "study reap" in refused.stderr) == (2, True)
    assert study("reap", "--runs", str(runs), runs=runs).returncode == 0
    assert left_of(run) == []
    assert study("down", runs=runs).stdout.strip() == "No cluster is kept."


def test_a_kept_cluster_expires(runs: Path) -> None:
    assert up(runs, "--expires", "3 s").returncode == 0
    run = run_of(runs)
    deadline = time.monotonic() + 120
    while left_of(run) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left_of(run) == []
    assert study("down", runs=runs).stdout.strip() == "No cluster is kept."


def test_a_run_keeps_the_cluster_of_a_failed_trial_and_then_its_last_one(runs: Path) -> None:
    with study_run(runs, "--keep", "on-failure") as command:
        run = wait_for(runs, client_started, 300)
        os.kill(pid_of(run, "ycsb-1"), signal.SIGKILL)
        wait_kept(run)
        assert (run / "report" / "index.html").exists(), "the report does not wait"
        assert shell(runs, "hdfs", "dfs", "-ls", "/").returncode == 0
        assert "until " in study("status", "--runs", str(runs), runs=runs).stdout
        assert study("reap", "--runs", str(runs), runs=runs).stdout.strip() == "Nothing to remove."
        assert study("down", runs=runs).returncode == 0
        shown = command.communicate(timeout=120)[0]
    assert command.returncode == 1, shown
    assert "study shell" in shown, shown
    assert left_of(run) == []

    with study_run(runs, "--keep", "always", "--expires", "1 h") as command:
        wait_kept(run)  # the same run is resumed
        assert shell(runs, "hdfs", "dfs", "-ls", "/").returncode == 0
        command.send_signal(signal.SIGINT)
        shown = command.communicate(timeout=120)[0]
    assert left_of(run) == []
    assert study("down", runs=runs).stdout.strip() == "No cluster is kept."


def test_a_killed_run_that_keeps_a_cluster_leaves_what_reap_removes(runs: Path) -> None:
    with study_run(runs, "--keep", "always") as command:
        run = wait_for(runs, is_kept, 600)
        command.kill()
        command.wait()
        assert study("down", runs=runs).returncode == 2
        assert study("reap", "--runs", str(runs), runs=runs).returncode == 0
        assert left_of(run) == []


def pid_of(run: Path, name: str) -> int:
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return next(
        line["pid"] for line in reversed(lines) if line.get("name") == name and "pid" in line
    )


def wait_kept(run: Path) -> None:
    """TimeoutError unless a cluster of the run is kept within ten minutes."""
    deadline = time.monotonic() + 600
    while kept_in(Journal(run / "journal.jsonl").events(Event)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no cluster of {run} is kept")
        time.sleep(0.5)


def client_started(line: dict[str, object]) -> bool:
    return line["event"] == "process-started" and line["name"] == "ycsb-1"


def is_kept(line: dict[str, object]) -> bool:
    return line["event"] == "cluster-kept"
