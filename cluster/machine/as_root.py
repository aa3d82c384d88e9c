"""Runs a privileged program of ours as root, by sudo if need be. Standard library only: it runs on hosts."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAMS = ("start-unit", "cut-network", "set-network")
"""The programs of `cluster.machine.privileged` that guests also have. Only hosts have quiet-host."""
INSTALLED = Path("/usr/local/lib/density-study")
_PACKAGE = "density_study.cluster.machine.privileged"
_TIMEOUT_S = 20.0


def source(program: str) -> str:
    """The program's text."""
    found = pkgutil.get_data(_PACKAGE, f"{program.replace('-', '_')}.py")
    assert found is not None  # every loader of ours reads data
    return found.decode()


def as_root(
    program: str, *words: str, timeout_s: float = _TIMEOUT_S
) -> subprocess.CompletedProcess[str]:
    """Run one of our programs as root, by sudo for other users. The result has the program's exit code, or
    127 if it did not start or did not end in time."""
    if os.geteuid() == 0:
        return run(sys.executable, "-IS", "-c", source(program), *words, timeout_s=timeout_s)
    return run("sudo", "-n", str(INSTALLED / program), *words, timeout_s=timeout_s)


def run(*argv: str, timeout_s: float = _TIMEOUT_S) -> subprocess.CompletedProcess[str]:
    """Run a command as this user."""
    environment = {name: value for name, value in os.environ.items() if name != "SUDO_UID"}
    try:
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            timeout=timeout_s, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(argv, 127, "", str(error))


def may_not(program: str, *words: str) -> str:
    """Why this user may not run the program as root; empty if it may."""
    if os.geteuid() == 0:
        return ""
    if fault := _fault(program):
        return fault
    denied = run("sudo", "-n", "-l", str(INSTALLED / program), *words).returncode
    return f"sudo does not let this user run {INSTALLED / program}" if denied else ""


def _fault(program: str) -> str:
    """What is wrong with the installed file; empty if it is this version's."""
    try:
        current = (INSTALLED / program).read_text() == source(program)
    except OSError:
        return f"{INSTALLED / program} is not installed"
    return "" if current else f"{INSTALLED / program} is of another version of this project"


def failure(done: subprocess.CompletedProcess[str], argv: Sequence[str]) -> str:
    """The message of a failed program, without a full stop."""
    return f"{' '.join(argv)} fails: {' '.join(done.stderr.split())[:200]}".rstrip(".")
