"""Runs a program of this machine as root, by sudo if need be. Standard library only: it runs on hosts."""

from __future__ import annotations

import os
import subprocess

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
