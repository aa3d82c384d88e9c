"""The noisy neighbour produces its specified load, ends on request, and cleans up."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from density_study.workloads.ycsb.noisy_neighbour import neighbour_load
from density_study.workloads.ycsb.noisy_neighbour.neighbour import noise_made

SOURCE = Path(neighbour_load.__file__).read_text(encoding="utf-8")


def started(folder: Path, threads: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", SOURCE, "--threads", str(threads)]
    return subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, text=True)


def test_it_burns_cpu_writes_and_reports_its_work_at_the_end(tmp_path: Path) -> None:
    with started(tmp_path, threads=1) as child:
        file = tmp_path / "neighbour.load"
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (file.exists() and file.stat().st_size):
            time.sleep(0.05)
        used_s = sum(psutil.Process(child.pid).cpu_times()[:2])
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=20)
    done = json.loads(output)
    assert child.returncode == 0
    assert used_s > 0
    assert done["hashed_mib"] > 0
    assert done["written_mib"] > 0
    assert done["fault"] == ""
    assert not file.exists()


def test_an_unwritable_disk_is_reported_as_a_fault(tmp_path: Path) -> None:
    (tmp_path / "neighbour.load").mkdir()
    with started(tmp_path, threads=1) as child:
        while psutil.Process(child.pid).num_threads() == 1:  # it waits for signals before it begins
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=20)
    assert "directory" in json.loads(output)["fault"].lower()


def test_a_silent_neighbour_is_a_fault(tmp_path: Path) -> None:
    assert noise_made(tmp_path) is None
    (tmp_path / "neighbour.out").write_text("")
    assert noise_made(tmp_path) is None
