"""Slows a disk down for some processes for a time: `python -m ... GROUP DISK LIMITS SECONDS PID...`.

The processes move to a cgroup with I/O limits and back, as those on an emulated disk live in one. What
such a group limits depends on its version: see `cluster.machine.io_limits`. Standard library only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from density_study.cluster.machine import io_limits
from density_study.cluster.machine.held import held
from density_study.cluster.model.host import IoLimits


def slow(group: Path, disk: Path, limits: IoLimits, pids: Sequence[int]) -> None:
    io_limits.make(group, disk, limits)
    for pid in pids:
        with suppress(ProcessLookupError):
            io_limits.join(group, pid)


def restore(group: Path, home: Path) -> None:
    """Everything in the group, children of the processes too, returns to `home`; then the group goes."""
    with suppress(FileNotFoundError):
        while members := (group / "cgroup.procs").read_text().split():
            for pid in members:
                with suppress(ProcessLookupError):
                    io_limits.join(home, int(pid))
        io_limits.remove(group)


if __name__ == "__main__":
    group_, disk_, limits_, seconds_, *pids_ = sys.argv[1:]
    at, pids = Path(group_), [int(pid) for pid in pids_]
    home_ = io_limits.group_of(pids[0])
    held(
        float(seconds_),
        lambda: slow(at, Path(disk_), IoLimits(**json.loads(limits_)), pids),
        lambda: restore(at, home_),
    )
