"""Daemons as transient units of a host's systemd, with CPU, memory and I/O accounting on.

Transient: nothing is written to /etc, and a unit disappears with its process. Its description is the
build's tag. The sudo rule allows only this command, and only as the user (docs/providers.md: sudo).
"""

from __future__ import annotations

import getpass
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from density_study.cluster.machine.processes import environment
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.transport import Command
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import is_below, start_ticks

PREFIX = "density-study-"
ACCOUNTING = ("CPUAccounting=yes", "MemoryAccounting=yes", "IOAccounting=yes")
_STARTED_WITHIN_S = 50.0
"""systemd takes milliseconds; in a loaded emulated guest it took 20 s."""


def usable() -> bool:
    """Whether systemd runs this host."""
    return Path("/run/systemd/system").is_dir()


def unit_name(tag: str, node: str, name: str) -> str:
    return PREFIX + re.sub(r"[^A-Za-z0-9.-]", "-", f"{tag}-{node}-{name}") + ".service"


def run_argv(user: str, unit: str, tag: str, command: Sequence[str]) -> tuple[str, ...]:
    """The one command line that the sudo rule allows, up to `--`."""
    properties = (f"--property={one}" for one in ACCOUNTING)
    head = ("sudo", "-n", "/usr/bin/systemd-run", "--quiet", "--collect", f"--uid={user}")
    return (*head, f"--unit={unit}", f"--description={tag}", *properties, "--", *command)


def start(
    tag: str, node: str, command: Command, stdout: str, stderr: str, toolkit: str
) -> list[int]:
    """[pid, start in ticks] of the unit's process. StudyError if systemd does not start it."""
    unit = unit_name(tag, node, command.name)
    spec = Path(f"{stdout}.unit.json")
    spec.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "argv": command.argv, "cwd": command.cwd, "stdout": stdout, "stderr": stderr,
        "env": environment(tag, node, command),
    }  # fmt: skip
    atomic.write_text(spec, json.dumps(content), mode=0o600)
    become = (sys.executable, "-c", _BECOME, toolkit, str(spec))
    done = subprocess.run(
        run_argv(getpass.getuser(), unit, tag, become), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StudyError(
            f"systemd could not start it: {done.stderr.strip()[-500:]}.",
            f"{command.name} on node {node!r}, unit {unit}",
            "check the sudo rule in docs/providers.md and the output of `journalctl -u` for the unit.",
        )
    return _identity(unit, spec)


_BECOME = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from density_study.cluster.providers.ssh.units import become; become(sys.argv[2])"
)


def become(spec: str) -> None:
    """Turn this process into the daemon: its streams, its directory, its clean environment."""
    given = json.loads(Path(spec).read_text())
    for number, path in ((1, given["stdout"]), (2, given["stderr"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), number)
    if given["cwd"]:
        os.chdir(given["cwd"])
    os.execve(given["argv"][0], given["argv"], given["env"])


def check(tag: str) -> None:
    """InputError if systemd runs this host, and sudo does not let the user start units. Starts nothing."""
    if not usable():
        return
    user = getpass.getuser()
    argv = run_argv(user, unit_name(tag, "node", "daemon"), tag, ("/bin/true",))
    listed = ("sudo", "-n", "-l", "--", *argv[2:])
    done = subprocess.run(listed, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(
            f"the sudo rule for systemd units is not there: {done.stderr.strip()[-300:]}",
            f"user {user}",
            "add the rule of docs/providers.md (physical).",
        )


def of(tag: str) -> list[str]:
    """Units of the tag that systemd still lists."""
    if not usable():
        return []
    argv = ("systemctl", "list-units", "--all", "--plain", "--no-legend", f"{PREFIX}*")
    listed = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    rows = (line.split(None, 4) for line in listed.splitlines())
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
    shown = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    return int(shown) if shown.isdigit() else None


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
