"""CPU time of a JVM's JIT compilers, as the kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path

_COMPILERS = ("C1 Compiler", "C2 Compiler")
"""The kernel keeps 15 characters of a thread's name."""
_TICKS_S = 1 / os.sysconf("SC_CLK_TCK")


def compilers_cpu_s(pid: int, proc: Path = Path("/proc")) -> float:
    """For the threads that live now: a JVM ends idle ones. FileNotFoundError if the process has ended."""
    ticks = 0
    for thread in (proc / str(pid) / "task").iterdir():
        try:
            stat = (thread / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        name, _, fields = stat.partition("(")[2].rpartition(")")
        if name.startswith(_COMPILERS):
            user, system = fields.split()[11:13]
            ticks += int(user) + int(system)
    return ticks * _TICKS_S
