"""Runs a program of this machine as root, by sudo if need be. Standard library only: it runs on hosts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

_TIMEOUT_S = 20.0


def as_root(*argv: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """It has ended with its own exit code, or with 127 if it did not start or did not end in time."""
    return run(*(() if os.geteuid() == 0 else ("sudo", "-n")), *argv, stdin=stdin)


def run(*argv: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The same as this user."""
    try:
        return subprocess.run(
            argv, input=stdin, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(argv, 127, "", str(error))


def may_not(*argv: str) -> str:
    """Why this user may not run it as root; empty if it may."""
    denied = os.geteuid() != 0 and run("sudo", "-n", "-l", *argv).returncode
    return f"sudo does not let this user run {' '.join(argv)}" if denied else ""


def failure(done: subprocess.CompletedProcess[str], argv: Sequence[str]) -> str:
    """What a program said that has failed, without a full stop."""
    return f"{' '.join(argv)} fails: {' '.join(done.stderr.split())[:200]}".rstrip(".")
