"""Peak memory of a command and all its processes, by proportional set size.

Resident sizes would count shared pages (CDS archives, libc) once per process; PSS counts them once.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from tests.support.repeating import repeating

PERIOD_S = 1.0
TAG = b"STUDY_TAG="


def run_with_peak(argv: list[str], cwd: Path, env: dict[str, str]) -> tuple[float, float]:
    """(seconds, peak MiB) of `argv`. subprocess.CalledProcessError if it fails, with its output."""
    start = time.monotonic()
    child = subprocess.Popen(
        argv, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    peak_mib = 0.0

    def sample() -> None:
        nonlocal peak_mib
        peak_mib = max(peak_mib, sum(pss_mib(pid) for pid in _ours(child.pid)))

    with repeating(sample, PERIOD_S):
        output, _ = child.communicate()
        seconds = time.monotonic() - start
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, argv, output)
    return seconds, peak_mib


def _ours(root: int) -> set[int]:
    """The command, its descendants, and processes with a study's tag (daemons have other
    parents)."""
    parents = {pid: _parent(pid) for pid in _pids()}
    ours = {root} | {pid for pid in parents if _is_marked(pid)}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        grown = bool(more)
        ours |= more
    return ours


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _is_marked(pid: int) -> bool:
    try:
        return TAG in Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def pss_mib(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024
