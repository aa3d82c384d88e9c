"""Samplers that are stopped and continued, as a debugger, a container's pause or a suspended machine does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from density_study.workloads.monitors import with_devices

ROOT = Path(__file__).parents[4]
TURNS, TURN_S = 150, 0.005


@pytest.mark.parametrize("kind", ["canary", "nodecpu", "disks", "gc"])
def test_a_sampler_that_was_stopped_goes_on(kind: str, tmp_path: Path) -> None:
    output = tmp_path / f"h1.{kind}.csv"
    known = with_devices([kind] if kind in ("disks", "gc") else [])
    command = known[kind]("h1", str(output), 0.02, "s/r/b", (sys.executable,))
    sampler = subprocess.Popen(command.argv, env={**command.env, "PYTHONPATH": str(ROOT)})
    try:
        while not output.exists() or output.read_text().count("\n") < 3:
            assert sampler.poll() is None
            time.sleep(0.02)
        for _ in range(TURNS):
            os.kill(sampler.pid, signal.SIGSTOP)
            time.sleep(TURN_S)
            os.kill(sampler.pid, signal.SIGCONT)
            time.sleep(TURN_S)
            assert sampler.poll() is None
        sampler.send_signal(signal.SIGTERM)
        assert sampler.wait(10) == 0
    finally:
        sampler.kill()
