"""Finds a machine's Redis or Valkey server. Standard library only: it runs on hosts."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
from pathlib import Path

from density_study.cluster.model.errors import InputError

_NAMES = ("redis-server", "valkey-server")
_SEARCHED = "/usr/bin:/bin:/usr/local/bin"
_TIMEOUT_S = 30


def find_redis(since: int = 0) -> dict[str, str]:
    """name (Redis or Valkey), version, sha256 and program, an absolute path. InputError if there is none of
    the major version `since` or later."""
    machine = f"machine {platform.node()}, store redis"
    found = [path for name in _NAMES if (path := shutil.which(name, path=_SEARCHED))]
    if not found:
        raise InputError(
            f"neither {' nor '.join(_NAMES)} is installed in {_SEARCHED}.",
            machine,
            "install it there (Debian: apt install redis-server; its service is not needed: the study starts "
            "servers of its own).",
        )
    program = Path(found[0])
    done = subprocess.run(
        [str(program), "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    said = re.match(r"(\w+) server v=(\S+)", done.stdout)
    if said is None:
        raise InputError(
            f"{program} printed no version: {(done.stdout + done.stderr).strip()[:200]}",
            machine,
            "install Redis 6.2 or later, or Valkey.",
        )
    if int(said[2].partition(".")[0]) < since:
        raise InputError(
            f"{program} is version {said[2]}, which has no option cluster-port.",
            machine,
            f"install version {since}.0 or later there.",
        )
    sha256 = hashlib.sha256(program.read_bytes()).hexdigest()
    return {"name": said[1], "version": said[2], "sha256": sha256, "program": str(program)}
