"""The canary's program: a burst before the trial, a round a period, a burst after it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from density_study.workloads.monitors import MONITORS
from density_study.workloads.monitors.canary import BLOCKS
from density_study.workloads.monitors.devices import parse_device

ROOT = Path(__file__).parents[4]


def test_bursts_around_rounds(tmp_path: Path) -> None:
    output = tmp_path / "h1.canary.csv"
    command = MONITORS["canary"]("h1", str(output), 0.1, "s/r/b", (sys.executable,))
    sampler = subprocess.Popen(command.argv, env={**command.env, "PYTHONPATH": str(ROOT)})
    seen = {0}
    try:
        while max(seen) < 2 + BLOCKS + 3:
            assert sampler.poll() is None
            seen.add(output.read_text().count("\n") if output.exists() else 0)
            time.sleep(0.002)
        sampler.send_signal(signal.SIGTERM)
        assert sampler.wait(10) == 0
    finally:
        sampler.kill()
    assert not seen & set(range(3, 2 + BLOCKS))  # nobody sees a part of the first burst
    parsed = parse_device(output.read_bytes(), "f")
    assert parsed.quarantined == ()
    assert {row.names for row in parsed.rows} == {("compute_us", "memory_us")}
    assert min(value for row in parsed.rows for value in row.values) > 0
