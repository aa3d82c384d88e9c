"""Another user of this machine, who tries what it may not."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

AS_NOBODY = (
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "/usr/bin/python3",
    "-c",
)
ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="root becomes another user"
)


def reaches(address: tuple[str, int] | None, program: str | None = None) -> bool:
    """Whether nobody can connect to the address, or carry out a program of Python."""
    text = (
        f"import socket; socket.create_connection({address!r}, 3)" if program is None else program
    )
    done = subprocess.run((*AS_NOBODY, text), capture_output=True, timeout=20, check=False)
    return done.returncode == 0
