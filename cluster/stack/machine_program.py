"""Finds a server program that a machine has itself. Standard library only: it runs on hosts."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from density_study.cluster.model.errors import InputError

_SEARCHED = "/usr/bin:/bin:/usr/local/bin"
_TIMEOUT_S = 30


def find_program(names: Sequence[str], package: str, says: str, since: int = 0) -> dict[str, str]:
    """name, version, sha256 and program, an absolute path, of the first of `names` that is installed.

    `package`: Debian's. `says`: pattern of what it prints for --version, with groups for its name and its
    version. InputError if there is none of the major version `since` or later.
    """
    machine = f"machine {platform.node()}"
    found = [path for name in names if (path := shutil.which(name, path=_SEARCHED))]
    if not found:
        raise InputError(
            f"none of {', '.join(names)} is installed in {_SEARCHED}.",
            machine,
            f"install it there (Debian: apt install {package}; its service is not needed: the study starts "
            "servers of its own).",
        )
    program = Path(found[0])
    done = subprocess.run(
        [str(program), "--version"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_S,
        check=False,
    )
    said = re.match(says, done.stdout)
    if said is None:
        raise InputError(
            f"{program} printed no version: {(done.stdout + done.stderr).strip()[:200]}",
            machine,
            f"install a supported release of {package}.",
        )
    if int(said[2].partition(".")[0]) < since:
        raise InputError(
            f"{program} is version {said[2]}, older than {since}.0, the first that will do.",
            machine,
            f"install version {since}.0 or later there.",
        )
    sha256 = hashlib.sha256(program.read_bytes()).hexdigest()
    return {"name": said[1], "version": said[2], "sha256": sha256, "program": str(program)}
