"""What programs used, by the kernel's count: compared with work of known size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from density_study.workloads.pipeline.machine.measure import run

MIB = 2**20


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_cpu_time_counts_threads_and_children_of_a_program(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}], check=True)\n{busy}"
    use = run([[python(parent)]], tmp_path)
    assert use.exit_code == 0
    assert 0.4 <= use.core_s < 1.0
    assert use.end_epoch_s - use.start_epoch_s >= use.core_s / 2


def test_peak_memory_is_that_of_programs_that_ran_at_once(tmp_path: Path) -> None:
    """In a process as small as the agent: a program's peak begins with that of its parent."""
    hold = python("import sys\nkept = bytearray(64 * 2**20)\nsys.stdin.read()")
    measured = "from density_study.workloads.pipeline.machine.measure import run\nfrom pathlib import Path\n"
    peaks = []
    for chains in ([[hold], [hold]], [[hold, hold]]):
        code = f"{measured}print(run({chains!r}, Path({str(tmp_path)!r})).peak_kib)"
        peaks.append(int(subprocess.run(python(code), capture_output=True, check=True).stdout))
    assert 64 * 1024 < peaks[0] < 100 * 1024
    assert 128 * 1024 < peaks[1] < 200 * 1024


def test_bytes_through_a_pipe_are_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(8 * MIB))
    start = run([[["true"]]], tmp_path)
    use = run([[["cat", "in"], ["dd", "of=out", "status=none"]]], tmp_path)
    assert start.read_bytes is not None and use.read_bytes is not None
    assert 8 * MIB <= use.read_bytes < 8.1 * MIB + 3 * start.read_bytes
    assert use.written_bytes == 8 * MIB == (tmp_path / "out").stat().st_size


def test_nothing_runs_after_a_program_that_failed(tmp_path: Path) -> None:
    use = run([[["cat", "missing"], ["cat"]], [["touch", "after"]]], tmp_path)
    assert use.exit_code == 1
    assert not (tmp_path / "after").exists()


def test_a_signal_is_an_exit_code_as_in_a_shell(tmp_path: Path) -> None:
    use = run([[["sh", "-c", "kill -9 $$"]]], tmp_path)
    assert use.exit_code == 137


def test_a_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run([[["no-such-program"]]], tmp_path)
