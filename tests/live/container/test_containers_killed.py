"""kill -9 of the orchestrator at every journalled step, then reap: nothing of the containers remains."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.state import lease
from density_study.cluster.state.tags import TAG, tagged
from tests.live.support.containers import on_this_machine
from tests.live.support.killed import kinds

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

SPEC = """
study: killed-container
provider: container
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK}]}]
containers: {network: 198.18.44.0/28}
factors: {vms_per_host: [2]}
stack: {base_port: 24000}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""
ACTS = ("close-bridge", "make-bridge", "make-netns", "make-container", "make-dir", "start datanode")
FOREIGN = "study-0123456789ab-w1"
"""A network namespace as another study's build would name it."""


@pytest.fixture
def foreign() -> Iterator[subprocess.Popen[bytes]]:
    """A process and a network of another study, which must survive."""
    subprocess.run(["ip", "netns", "add", FOREIGN], check=True)
    env = {**os.environ, TAG: "another-study/r1/b1"}
    argv = ["ip", "netns", "exec", FOREIGN, "sleep", "1200"]
    process = subprocess.Popen(argv, env=env)
    yield process
    process.kill()
    process.wait()
    subprocess.run(["ip", "netns", "delete", FOREIGN], check=True)


def orchestrate(spec: Path, runs: Path, *kind: str) -> int:
    argv = [sys.executable, "-m", "tests.live.support.killed", str(spec), str(runs), *kind]
    return subprocess.run(argv, check=False, timeout=300).returncode


def test_reap_removes_whatever_there_was(
    runtime: None, tmp_path: Path, foreign: subprocess.Popen[bytes]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    (disk / "foreign").write_text("not ours")
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC.replace("DISK", str(disk)))
    before = on_this_machine()
    assert orchestrate(spec, tmp_path / "whole") == 0
    assert on_this_machine() == before
    every = kinds(next(tmp_path.glob("whole/*/*/journal.jsonl")))
    assert {f"intent {act}" for act in ACTS} <= set(every)
    for number, kind in enumerate(every):
        runs = tmp_path / f"runs-{number}"
        assert orchestrate(spec, runs, kind) == -9, kind
        reap(runs)
        assert tagged("killed-container") == [], kind
        assert on_this_machine() == before, kind
        assert [path.name for path in disk.iterdir()] == ["foreign"], kind
        assert lease.holder() is None, kind
        assert reap(runs).reaped == ()
    assert foreign.poll() is None
