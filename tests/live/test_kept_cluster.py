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

from tests.live.support.command import SPEC, left_of, study

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
