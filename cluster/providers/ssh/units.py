"""Daemons as transient units of a host's systemd, with CPU, memory and I/O accounting on.

Transient: nothing is written to /etc, and a unit disappears with its process. Its description is the
build's tag. The privileged program start-unit starts it, only ever as the user (docs/providers.md: sudo).
"""

from __future__ import annotations

import getpass
import json
import re
import subprocess
import time
from pathlib import Path

from density_study.cluster.machine.as_root import as_root, may_not
from density_study.cluster.machine.processes import environment
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.transport import Command
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import is_below, start_ticks

PREFIX = "density-study-"
PROGRAM = "start-unit"
_STARTED_WITHIN_S = 50.0
"""systemd takes milliseconds; in a loaded emulated guest it took 20 s."""
_ANSWERS_WITHIN_S = 120.0


def usable() -> bool:
    """Whether systemd runs this host."""
    return Path("/run/systemd/system").is_dir()


def unit_name(tag: str, node: str, name: str) -> str:
    return PREFIX + re.sub(r"[^A-Za-z0-9.-]", "-", f"{tag}-{node}-{name}") + ".service"


def start(tag: str, node: str, command: Command, stdout: str, stderr: str) -> list[int]:
    """[pid, start in ticks] of the unit's process. StudyError if systemd does not start it."""
    unit = unit_name(tag, node, command.name)
    spec = Path(f"{stdout}.unit.json")
    spec.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "argv": command.argv, "cwd": command.cwd, "stdout": stdout, "stderr": stderr,
        "env": environment(tag, node, command),
    }  # fmt: skip
    atomic.write_text(spec, json.dumps(content), mode=0o600)
    done = as_root(PROGRAM, unit, tag, str(spec), timeout_s=_ANSWERS_WITHIN_S)
    if done.returncode:
        raise StudyError(
            f"systemd could not start it: {done.stderr.strip()[-500:]}.",
            f"{command.name} on node {node!r}, unit {unit}",
            "run what `study sudo-rules` prints on the host, and see `journalctl -u` for the unit.",
        )
    return _identity(unit, spec)


def check(tag: str) -> None:
    """InputError if systemd runs this host, and sudo does not let the user start units. Starts nothing."""
    unit = unit_name(tag, "node", "daemon")
    if usable() and (why := may_not(PROGRAM, unit, tag, "/spec.json")):
        raise InputError(
            f"{why}.",
            f"user {getpass.getuser()}",
            "run what `study sudo-rules` prints as root on the host.",
        )


def of(tag: str) -> list[str]:
    """Units of the tag that systemd still lists. StudyError if it does not answer."""
    if not usable():
        return []
    argv = ("systemctl", "list-units", "--all", "--plain", "--no-legend", f"{PREFIX}*")
    listed = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    if listed.returncode:
        raise StudyError(
            f"which units are left is unknown: {listed.stderr.strip()[-300:]}.",
            "systemd",
            "see that `systemctl list-units` works for that user, then run `study reap`.",
        )
    rows = (line.split(None, 4) for line in listed.stdout.splitlines())
    return [row[0] for row in rows if len(row) == 5 and is_below(row[4].strip(), tag)]


def _identity(unit: str, spec: Path) -> list[int]:
    """Wait until the unit's process is the tagged daemon itself. StudyError if it ended."""
    deadline = time.monotonic() + _STARTED_WITHIN_S
    pid = None  # queried only until known: on a slow guest each query is an expensive process
    while time.monotonic() < deadline:
        pid = _main_pid(unit) if pid is None else pid
        if pid is not None:
            ticks = start_ticks(pid) if pid else None
            if ticks is None:
                break
            if b"STUDY_TAG=" in _environ(pid):
                return [pid, ticks]
        time.sleep(0.02)
    in_time = time.monotonic() < deadline
    raise StudyError(
        "its process exited at once." if in_time else "it did not start in time.",
        f"unit {unit}",
        f"read the log files next to {spec.with_suffix('')}.",
    )


def _main_pid(unit: str) -> int | None:
    """0 if it has ended; None if a busy systemd did not answer."""
    argv = ("systemctl", "show", "--property=MainPID", "--value", unit)
    shown = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=False
    ).stdout.strip()
    return int(shown) if shown.isdigit() else None


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
